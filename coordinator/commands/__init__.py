"""The commands of ``coordinator``: one module per noun, without rules of their own."""
