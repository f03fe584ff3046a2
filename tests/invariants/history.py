"""Proves from what all processes wrote down, and from the database in the end, that nothing stale was accepted."""

from __future__ import annotations

from pathlib import Path

from tests.invariants import durability, succession
from tests.invariants.durability import Connection
from tests.invariants.exchange import read


def check(folder: Path, connection: Connection) -> tuple[int, list[str]]:
    """How many exchanges were judged, and a sentence for each that broke a promise."""
    exchanges = list(read(folder))
    return len(exchanges), succession.check(exchanges) + durability.check(exchanges, connection)
