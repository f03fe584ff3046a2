"""What the header of a query file promises, and what a plan of MySQL's says against it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_ACCEPTS = re.compile(r"(?P<what>[a-z, ]+?) because \S.*")
_ACCEPTABLE = frozenset({"scan", "filesort"})


class HeaderError(Exception):
    """The comment at the head of a query file is not as it should be."""


@dataclass(frozen=True)
class Header:
    """What a query is for, the indexes it says it rides, and what it owns up to (``scan``, ``filesort``)."""

    purpose: str
    indexes: frozenset[str]
    accepts: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Header:
        """Read the comment lines at the start of a file.

        First what the query is for; then ``-- index: NAME, NAME`` and ``-- accepts: scan, filesort because …``, at
        least one of the two. Raises ``HeaderError``.
        """
        purpose, indexes, accepts = "", frozenset[str](), frozenset[str]()
        for line in text.splitlines():
            if not line.startswith("--"):
                break
            label, _, rest = line.removeprefix("--").strip().partition(":")
            if label == "index":
                indexes = frozenset(rest.replace(",", " ").split())
            elif label == "accepts":
                accepts = _accepted(rest.strip())
            elif not purpose:
                purpose = line.removeprefix("--").strip()
        if not purpose:
            raise HeaderError("the first line has to say, as a comment, what the query is for")
        if not indexes and not accepts:
            raise HeaderError("a line `-- index: NAME` has to say which index the query rides")
        return cls(purpose, indexes, accepts)


def _accepted(text: str) -> frozenset[str]:
    found = _ACCEPTS.fullmatch(text)
    words = frozenset(found["what"].replace(",", " ").split()) if found else frozenset[str]()
    if not words or not words <= _ACCEPTABLE:
        raise HeaderError(f"`-- accepts:` wants `scan` or `filesort` (or both), then `because …`, not {text!r}")
    return words


def objections(header: Header, plan: list[dict[str, Any]], *, limited: bool) -> list[str]:
    """What is wrong with a plan (rows of ``EXPLAIN FORMAT=TRADITIONAL``); ``limited``: the query has a LIMIT.

    Walking a whole index in its order counts as a scan, except under a LIMIT, where that is how a head is found.
    Temporary results (``<derived2>``) are not tables, and have no index to ride.
    """
    steps = [step for step in plan if step["select_type"] not in {"INSERT", "REPLACE"}]
    found = []
    sorting = [step for step in steps if "Using filesort" in (step["Extra"] or "")]
    if sorting and "filesort" not in header.accepts:
        found.append(f"it sorts ({_tables(sorting)}), and the header does not accept a filesort")
    scanning = [step for step in steps if _is_scan(step, limited)]
    if scanning and "scan" not in header.accepts:
        found.append(f"it reads all of {_tables(scanning)}, and the header does not accept a scan")
    ridden = {name for step in steps for name in (step["key"] or "").split(",")}
    unused = header.indexes - ridden
    if unused and steps and not _answered_while_planning(steps):
        names, plans = ", ".join(sorted(unused)), ", ".join(sorted(ridden - {""})) or "none"
        found.append(f"the header names the index {names}, but the plan rides {plans}")
    return found


def _is_scan(step: dict[str, Any], limited: bool) -> bool:
    table = step["table"] or ""
    return not table.startswith("<") and (step["type"] == "ALL" or (step["type"] == "index" and not limited))


def _answered_while_planning(steps: list[dict[str, Any]]) -> bool:
    """MIN and MAX of an index are looked up by the optimizer, which then names no index."""
    return any("Select tables optimized away" in (step["Extra"] or "") for step in steps)


def _tables(steps: list[dict[str, Any]]) -> str:
    return ", ".join(str(step["table"]) for step in steps)
