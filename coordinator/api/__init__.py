"""The HTTP surface: thin blueprints without SQL and without rules."""
