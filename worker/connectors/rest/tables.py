"""Reading a description's tables so that every violation in it is found in one go."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Violation:
    """A field of a description that breaks a rule, and what to do about it."""

    field: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.field}: {self.remedy}"


class DescriptionInvalid(Exception):  # noqa: N818 - it says what is wrong with the description
    """A marketplace's description breaks rules; `violations` has all of them."""

    def __init__(self, source: str, violations: list[Violation]) -> None:
        super().__init__(f"{source}: " + "; ".join(map(str, violations)))
        self.source = source
        self.violations = violations


@dataclass(slots=True)
class Table:
    """One table of a description. Reading a field marks it as known; violations gather in the list that all share."""

    content: Mapping[str, object]
    name: str = ""
    violations: list[Violation] = field(default_factory=list)
    known: set[str] = field(default_factory=set)

    def refuse(self, name: str, remedy: str) -> None:
        """Note, once, that a field breaks a rule."""
        violation = Violation(self.path(name), remedy)
        if violation not in self.violations:
            self.violations.append(violation)

    def path(self, name: str) -> str:
        """A field's name with its table's."""
        return f"{self.name}.{name}" if self.name else name

    def has(self, name: str) -> bool:
        """Whether the field is there."""
        return name in self.content

    def text(self, name: str, default: str | None = None, *, required: bool = False) -> str:
        """A text; a missing or wrong one is a violation and reads as the default, or as empty."""
        return self._value(name, str, "a text", default or "", required=required)

    def integer(self, name: str, default: int, *, least: int, required: bool = False) -> int:
        """A whole number of at least `least`."""
        value = self._value(name, int, "a whole number", default, required=required)
        if value < least:
            self.refuse(name, f"must be at least {least}")
        return value

    def boolean(self, name: str, default: bool = False, *, required: bool = False) -> bool:
        """True or false."""
        return self._value(name, bool, "true or false", default, required=required)

    def choice(self, name: str, choices: Mapping[str, T], default: T, *, required: bool = False) -> T:
        """What one of the named choices stands for."""
        word = self.text(name, required=required)
        if word in choices:
            return choices[word]
        if isinstance(self.content.get(name), str):
            self.refuse(name, f"must be one of {', '.join(choices)}")
        return default

    def table(self, name: str, *, required: bool = False) -> "Table":
        """A table within; a missing one reads as empty, and what is missing in something else is not worth noting."""
        content: dict[str, object] = self._value(name, dict, "a table", {}, required=required)
        noted = self.violations if isinstance(self.content.get(name, {}), dict) else []
        return Table(content, self.path(name), noted)

    def end(self) -> None:
        """Refuse every field that was never asked for: most of them are misspelt."""
        for name in self.content:
            if name not in self.known:
                self.refuse(name, f"is unknown: remove it, or use one of {', '.join(sorted(self.known))}")

    def _value(self, name: str, kind: type[T], called: str, default: T, *, required: bool) -> T:
        self.known.add(name)
        value = self.content.get(name, _ABSENT)
        if value is _ABSENT:
            if required:
                self.refuse(name, f"is missing: add {called}")
            return default
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.refuse(name, f"must be {called}")
            return default
        return value
