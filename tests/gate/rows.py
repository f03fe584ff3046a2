"""Rows of the gate's table: what a part says of a scenario, and how what several say of the same one adds up."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

NO_INVARIANT = "–"
_INVARIANTS = re.compile(r"I(\d+)(?:\s*[–-]\s*I?(\d+))?")


class Unreadable(ValueError):  # noqa: N818 - a fact about what was written
    """What a part wrote is not what the gate and its parts agreed on."""


@dataclass(frozen=True)
class Row:
    """How often a scenario was run and violated; ``failed`` names what failed, ``facts`` are measured figures."""

    name: str
    invariant: str
    runs: int
    violations: int
    tests: int = 0
    failed: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, written: object) -> Row:
        """A row as a part wrote it in JSON. Raises ``Unreadable``."""
        if not isinstance(written, dict):
            raise Unreadable(f"a row must be an object, not {written!r}")
        name, invariant = (_text(written, member) for member in ("name", "invariant"))
        runs, violations = (_count(written, member) for member in ("runs", "violations"))
        failed, facts = written.get("failed", []), written.get("facts", {})
        if not isinstance(failed, list) or not isinstance(facts, dict):
            raise Unreadable(f"row {name!r}: failed must be a list and facts an object")
        tests = written.get("tests", 0)
        return cls(name, invariant, runs, violations, tests, tuple(str(each) for each in failed), facts)

    def plus(self, other: Row) -> Row:
        """Both as one row."""
        return Row(
            self.name,
            joined(self.invariant, other.invariant),
            self.runs + other.runs,
            self.violations + other.violations,
            self.tests + other.tests,
            self.failed + other.failed,
            _both(self.facts, other.facts),
        )


def read_all(written: object) -> list[Row]:
    """The rows of a list, one for each name. Raises ``Unreadable``."""
    if not isinstance(written, list):
        raise Unreadable(f"rows must be a list, not {type(written).__name__}")
    return added_up(Row.read(each) for each in written)


def added_up(rows: Iterable[Row]) -> list[Row]:
    """One row for each name, in the order in which the names came."""
    made: dict[str, Row] = {}
    for row in rows:
        made[row.name] = made[row.name].plus(row) if row.name in made else row
    return list(made.values())


def joined(one: str, other: str) -> str:
    """The invariants of both, in order and without repetition: ``I1 I2`` and ``I2–I4`` are ``I1–I4``."""
    if one == other:
        return one
    numbers = sorted(_numbers(one) | _numbers(other))
    if not numbers:
        return " ".join(dict.fromkeys(part for part in (one, other) if part != NO_INVARIANT))
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return " ".join(_span(first, last) for first, last in spans)


def _span(first: int, last: int) -> str:
    if first == last:
        return f"I{first}"
    return f"I{first} I{last}" if last == first + 1 else f"I{first}–I{last}"


def _numbers(invariant: str) -> set[int]:
    found = _INVARIANTS.findall(invariant)
    return {number for first, last in found for number in range(int(first), int(last or first) + 1)}


def _both(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """All facts; those that both have become a list."""
    made = dict(one)
    for name, value in other.items():
        made[name] = [*_list(made[name]), *_list(value)] if name in made else value
    return made


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _text(written: dict[str, Any], member: str) -> str:
    value = written.get(member)
    if not isinstance(value, str) or not value:
        raise Unreadable(f"{member} of a row must be a text: {written!r}")
    return value


def _count(written: dict[str, Any], member: str) -> int:
    value = written.get(member)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Unreadable(f"{member} of row {written.get('name')!r} must be a whole number: {value!r}")
    return value
