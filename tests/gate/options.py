"""The gate's command line."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

from tests.gate.mandatory import GROUPS

SOAK_MINUTES = 30
"""A shorter soak proves too little for the word "ready"."""

DESCRIPTION = """\
Runs all that proves the project's promises, on real MySQL, real gunicorn and
real worker processes: every scenario of tests/integration and tests/faults in
full depth, a soak with random faults, the removal of every guard, and a
quickstart with chaos. Takes hours; nothing else should be running.

Exit status: 0 when all of it ran and nothing was violated, 1 after a
violation, 2 for a command that cannot be taken, 3 when nothing was violated
but parts were left out, 130 after Ctrl-C.
"""


@dataclass(frozen=True)
class Options:
    """What was asked for."""

    minutes: int
    seed: int
    only: tuple[str, ...]
    report: Path | None
    document: Path | None

    @property
    def left_out(self) -> tuple[str, ...]:
        """The groups that do not run."""
        return tuple(group for group in GROUPS if group not in self.only)


def parse(arguments: list[str] | None = None) -> Options:
    """Read the command line; ends the process with status 2 for one that cannot be taken."""
    parser = argparse.ArgumentParser(
        prog="tests/run gate",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--minutes", metavar="N", type=_minutes, default=SOAK_MINUTES, help="length of the soak, 30 unless given")
    add("--seed", metavar="N", type=_number, default=1, help="other chances for another number, 1 unless given")
    add("--only", metavar="PART,…", type=_groups, default=GROUPS, help=f"some of {','.join(GROUPS)}")
    add("--report", metavar="FILE", type=_file, help="write the result there, as JSON")
    add(
        "--document",
        metavar="FILE",
        type=_file,
        help="write the result there, as Markdown; docs/readiness.md when all of it runs",
    )
    return Options(**vars(parser.parse_args(arguments)))


def _minutes(text: str) -> int:
    return _whole(text, 1, 24 * 60)


def _number(text: str) -> int:
    return _whole(text, 0, 2**31)


def _whole(text: str, least: int, most: int) -> int:
    if not text.isascii() or not text.isdecimal() or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from {least} to {most}")
    return int(text)


def _groups(text: str) -> tuple[str, ...]:
    asked = text.split(",")
    for name in asked:
        if name not in GROUPS:
            raise argparse.ArgumentTypeError(f"{name!r} must be one of {', '.join(GROUPS)}")
    return tuple(group for group in GROUPS if group in asked)


def _file(text: str) -> Path:
    """A file to write, relative to where the command was called from."""
    file = Path(os.environ.get("TESTS_CALLED_FROM", ""), text)
    if not file.parent.is_dir() or file.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} must be a file in a folder that is there")
    return file
