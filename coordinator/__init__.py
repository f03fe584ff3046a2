"""The HTTP API: the only program that talks to MySQL."""
