"""The readiness gate: runs all that proves the project's promises, and says of each what it came to."""
