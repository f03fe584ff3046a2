"""How a contract test says what it proves: a sentence of the specification, and whether it is the design's besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.integration.contract.sentences import Sentence

T = TypeVar("T", bound=Callable[..., object])

SCENARIO = ("contract", "I1–I10")


def proves(sentence: Sentence) -> Callable[[T], T]:
    """Mark a test with what it proves."""

    def mark(test: T) -> T:
        marked: T = pytest.mark.scenario(*SCENARIO)(pytest.mark.contract(*sentence)(test))
        return marked

    return mark


def refusal(answer: object) -> tuple[int, str]:
    """Status and code of an answer that refuses; the whole answer, should it be none."""
    status, document = answer.status, answer.document  # type: ignore[attr-defined]
    return status, document.get("code", f"no problem but {document}")
