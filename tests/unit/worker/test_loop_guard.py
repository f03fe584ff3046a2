"""A marketplace that leads in circles is noticed at any distance."""

from __future__ import annotations

import pytest

from worker.connectors.seam import Cursor, Page
from worker.loop_guard import INSANE_FACTOR, SMALLEST_SANE_TOTAL, UNTOLD_SANE_TOTAL, LoopGuard, PagingLoopError


def page(records: int, total: int | None = None, fingerprint: bytes | None = None) -> Page:
    return Page(range(records), None, total, None, records, fingerprint)


def test_a_place_that_was_asked_for_before_is_a_loop_at_any_distance() -> None:
    guard = LoopGuard(0, None)
    for number in range(1000):
        guard.asked(Cursor(str(number), float(number)))
    with pytest.raises(PagingLoopError, match="led back"):
        guard.asked(Cursor("3", 99999.0))


def test_the_same_page_again_is_a_loop() -> None:
    guard = LoopGuard(0, None)
    guard.read(page(1, fingerprint=b"one"))
    guard.read(page(1, fingerprint=b"two"))
    with pytest.raises(PagingLoopError, match="same page"):
        guard.read(page(1, fingerprint=b"one"))


def test_empty_pages_are_no_repeated_pages_but_count_as_records() -> None:
    guard = LoopGuard(0, None)
    for _ in range(INSANE_FACTOR * SMALLEST_SANE_TOTAL):
        guard.read(page(0, total=5))
    with pytest.raises(PagingLoopError, match="were expected"):
        guard.read(page(0, total=5))


@pytest.mark.parametrize(
    ("size", "total", "expected"),
    [(None, 5, SMALLEST_SANE_TOTAL), (2000, 5, 2000), (5, 3000, 3000), (5, None, UNTOLD_SANE_TOTAL)],
)
def test_three_times_the_largest_expectation_is_insane(size: int | None, total: int | None, expected: int) -> None:
    most = INSANE_FACTOR * expected
    LoopGuard(most - 10, size).read(page(10, total))
    with pytest.raises(PagingLoopError):
        LoopGuard(most - 10, size).read(page(11, total))


def test_a_total_that_shrinks_does_not_lower_what_is_expected() -> None:
    guard = LoopGuard(0, None)
    guard.read(page(1, total=2000))
    guard.read(page(INSANE_FACTOR * 2000 - 1, total=1))
