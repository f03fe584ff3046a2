"""Numbered migrations, ``NNNN_name.sql``: each a single statement that leads to schema version NNNN."""

from importlib.resources import files
from typing import NamedTuple


class Migration(NamedTuple):
    """One step: the version that it leads to, its name, its statement."""

    version: int
    name: str
    statement: str


def in_order() -> list[Migration]:
    """All migrations, oldest first."""
    folder = files(__name__)
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [
        Migration(int(name[:4]), name.removesuffix(".sql"), folder.joinpath(name).read_text(encoding="utf-8"))
        for name in names
    ]
