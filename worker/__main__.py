"""The command ``worker``, also as ``python -m worker``.

Whose packages these are is settled before any of them is used: a foreign ``shared`` would fail somewhere inside.
"""

import sys
from importlib import import_module


def main() -> None:
    """Run the command, or say which package is not ours."""
    try:
        import_module("shared.distribution").assert_ours("worker", "shared")
        command = import_module("worker.cli").main
    except ImportError as error:
        where = getattr(sys.modules.get("shared"), "__file__", "nowhere")
        sys.exit(f"Error: {error}. Package shared comes from {where}: is another project's package in the way?")
    command()


if __name__ == "__main__":
    main()
