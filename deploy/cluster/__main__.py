"""``python -m deploy.cluster``, which ``deploy/quickstart`` becomes once everything is installed."""

import sys

from deploy.cluster.interruption import Interruption
from deploy.cluster.options import parse


def main() -> int:
    """Run the quickstart with the command line's options; returns the exit status."""
    options = parse()
    interruption = Interruption()
    interruption.listen()
    # Loading the rest takes a good part of a second, in which Ctrl-C must already be understood.
    from deploy.cluster.command import run  # noqa: PLC0415

    return run(options, interruption)


if __name__ == "__main__":
    sys.exit(main())
