"""The SQL: one statement per file, named ``noun_verb.sql``, headed by what it is for and which index it rides.

Parameters are ``%(name)s``; a sequence becomes a list in parentheses (``IN %(ids)s``); a percent sign of SQL is
written ``%%``.
"""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_VALUES = re.compile(r"\bVALUES\s*(?=(?:ROW\s*)?\()", re.IGNORECASE)


class ManyRows(NamedTuple):
    """A statement cut around its row: ``head``, one row's tuple, ``tail``."""

    head: str
    row: str
    tail: str


@cache
def sql(name: str) -> str:
    """The statement in ``<name>.sql`` without its comment lines. Raises ``FileNotFoundError``."""
    text = files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return "\n".join(lines).strip().removesuffix(";")


@cache
def many_rows(name: str) -> ManyRows:
    """The statement in ``<name>.sql``, cut around the tuple that follows its first ``VALUES``.

    The tuple may hold function calls. Raises ``ValueError`` when there is none or it does not close.
    """
    text = sql(name)
    found = _VALUES.search(text)
    if found is None:
        raise ValueError(f"{name}.sql has no VALUES (...) to repeat")
    depth = 0
    for position in range(found.end(), len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0 and text[position] == ")":
            return ManyRows(text[: found.end()], text[found.end() : position + 1], text[position + 1 :])
    raise ValueError(f"{name}.sql: the tuple after VALUES is not closed")
