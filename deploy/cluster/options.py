"""The quickstart's command line. Only the standard library: it is judged before anything is installed."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

DESCRIPTION = """\
Sets up a whole cluster below .local/quickstart and lets it crawl simulated
marketplaces: a private MySQL, the coordinator, several servers, and 39
accounts with 78,000 listings. Ends when every account has been crawled and
every stored record has been compared with its marketplace. Needs no root.

Exit status: 0 when everything matches, 1 when not or when something failed,
130 after Ctrl-C.

"deploy/quickstart down" stops what is left of a run and removes what the
quickstart installed.
"""


@dataclass(frozen=True)
class Options:
    """What was asked for; the defaults are the baseline profile."""

    servers: int
    accounts: int
    scale: float
    seed: int
    keep: bool
    report: Path | None


def parse(arguments: list[str] | None = None) -> Options:
    """Read the command line; ends the process with a message for one that cannot be taken."""
    parser = argparse.ArgumentParser(
        prog="deploy/quickstart", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--servers", metavar="N", type=_whole(1, 20), default=3, help="worker daemons, 3 unless given")
    add("--accounts", metavar="N", type=_whole(1, 10_000), default=39, help="seller accounts, 39 unless given")
    add("--scale", metavar="F", type=_factor, default=1.0, help="factor for the number of listings, 1 unless given")
    add("--seed", metavar="N", type=_whole(0, 2**31), default=1, help="other sizes and catalogues for another number")
    add("--keep", action="store_true", help="stay up at the end, until Ctrl-C")
    add("--report", metavar="FILE", type=_file, help="write the result there, as JSON")
    return Options(**vars(parser.parse_args(arguments)))


class _whole:  # noqa: N801 - it stands where a type's name stands in argparse's messages
    """A whole number within bounds."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, text: str) -> int:
        if not text.isascii() or not text.isdecimal() or not self._least <= int(text) <= self._most:
            raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from {self._least} to {self._most}")
        return int(text)


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0.01 <= factor <= 100:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number from 0.01 to 100")
    return factor


def _file(text: str) -> Path:
    """A file to write, relative to where the quickstart was called from, since it goes to its checkout."""
    file = Path(os.environ.get("QUICKSTART_CALLED_FROM", ""), text)
    if not file.parent.is_dir() or file.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} must be a file in a folder that is there")
    return file


if __name__ == "__main__":
    parse()
