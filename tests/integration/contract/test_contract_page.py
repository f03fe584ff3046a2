"""The page that lists the contract tests says what they say, and there are as many as were promised."""

from __future__ import annotations

from tests.integration.contract import document

PROMISED = 42


def test_the_page_is_made_from_the_tests() -> None:
    again = "python -m tests.integration.contract.document"
    assert document.DOCUMENT.read_text("utf-8") == document.text(), f"docs/contract.md is out of date: {again}"


def test_there_are_as_many_as_the_specification_counts() -> None:
    assert len(list(document.proofs())) >= PROMISED


def test_every_section_about_the_api_is_spoken_for() -> None:
    assert {proof.section for proof in document.proofs()} >= {2, 3, 4, 5, 6, 8, 9, 10}
