"""Connectors: what a marketplace is like, told without touching the network."""
