"""How a contract test says what it proves: a sentence of the specification, and whether it is the design's besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

T = TypeVar("T", bound=Callable[..., object])

SCENARIO = ("contract", "I1–I10")


def proves(section: int, sentence: str) -> Callable[[T], T]:
    """Mark a test with the sentence of the specification's numbered section that it proves."""

    def mark(test: T) -> T:
        marked: T = pytest.mark.scenario(*SCENARIO)(pytest.mark.contract(section, sentence)(test))
        return marked

    return mark


def refusal(answer: object) -> tuple[int, str]:
    """Status and code of an answer that refuses; the whole answer, should it be none."""
    status, document = answer.status, answer.document  # type: ignore[attr-defined]
    return status, document.get("code", f"no problem but {document}")
