"""``python -m deploy.cluster``, which ``deploy/quickstart`` becomes once everything is installed."""

import sys
from pathlib import Path

from deploy.cluster.interruption import Interruption
from deploy.cluster.options import parse

FOLDER = Path(__file__).parents[2] / ".local" / "quickstart"


def main(folder: Path = FOLDER) -> int:
    """Run the quickstart with the command line's options, in a folder of its own; returns the exit status."""
    options = parse()
    interruption = Interruption()
    interruption.listen()
    # Loading the rest takes a good part of a second, in which Ctrl-C must already be understood.
    from deploy.cluster.command import run  # noqa: PLC0415

    return run(options, folder, interruption)


if __name__ == "__main__":
    sys.exit(main())
