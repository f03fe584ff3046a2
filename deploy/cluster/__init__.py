"""A whole cluster on one machine, of real processes: the quickstart's, and the tests'."""
