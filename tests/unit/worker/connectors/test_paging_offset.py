"""Paging by offset: it goes on behind what really came, so no clamp, spoken or silent, loses a record."""

import pytest

from tests.unit.worker.connectors.shelf import Reply, Serve, assert_resumable, walk
from worker.connectors.documents import Path
from worker.connectors.failures import CursorUnreadable
from worker.connectors.paging.offset import OffsetPaging
from worker.connectors.paging.strategy import Ended, EndSignal

PLAIN = OffsetPaging("offset", "limit")
NEXT = OffsetPaging("offset", "limit", EndSignal(Path("next"), means_last=False))


def shop(count: int, *, clamp: int = 1000, total: bool = True) -> Serve:
    def serve(query: dict[str, str]) -> Reply:
        start = int(query["offset"])
        records = list(range(count))[start : start + min(int(query["limit"]), clamp)]
        following = start + len(records)
        link = f"https://shop.test/?offset={following}" if following < count else None
        return Reply(records, {"next": link}, total=count if total else None)

    return serve


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 95, 100, 101])
@pytest.mark.parametrize("clamp", [1000, 10, 4, 1])
@pytest.mark.parametrize("total", [True, False])
def test_reads_everything_exactly_once(count: int, clamp: int, *, total: bool) -> None:
    result = walk(PLAIN, shop(count, clamp=clamp, total=total), PLAIN.first(10))

    assert result.records == list(range(count))
    assert result.ended is Ended.BY_CONCLUSION


def test_a_silent_clamp_at_250_of_5000_reads_all_pages() -> None:
    result = walk(PLAIN, shop(1111, clamp=250), PLAIN.first(5000))

    assert result.records == list(range(1111))
    assert [query["offset"] for query in result.queries] == ["0", "250", "500", "750", "1000"]


def test_is_resumable_at_every_page() -> None:
    serve = shop(95, clamp=7)
    assert_resumable(PLAIN, serve, walk(PLAIN, serve, PLAIN.first(10)))


def test_a_last_page_that_is_an_exact_multiple_needs_no_further_request_with_a_total() -> None:
    assert len(walk(PLAIN, shop(30), PLAIN.first(10)).queries) == 3
    assert len(walk(PLAIN, shop(30, total=False), PLAIN.first(10)).queries) == 4


def test_ends_by_the_marketplaces_word_when_next_is_null() -> None:
    result = walk(NEXT, shop(25), NEXT.first(10))

    assert result.ended is Ended.BY_MARKETPLACE
    assert len(result.queries) == 3


def test_the_marketplaces_word_that_more_follow_comes_before_its_total() -> None:
    pages = {"0": [1], "1": [2], "2": []}
    following = {"0": "more", "1": "more", "2": None}

    result = walk(NEXT, lambda q: Reply(pages[q["offset"]], {"next": following[q["offset"]]}, total=1), NEXT.first(10))

    assert result.records == [1, 2]


def test_a_total_that_shrinks_while_reading_ends() -> None:
    totals = iter([30, 15])
    result = walk(PLAIN, lambda _: Reply(range(10), total=next(totals)), PLAIN.first(10))

    assert len(result.queries) == 2


def test_a_total_that_grows_while_reading_is_followed() -> None:
    def serve(query: dict[str, str]) -> Reply:
        return shop(20 if query["offset"] == "0" else 25)(query)

    assert walk(PLAIN, serve, PLAIN.first(10)).records == list(range(25))


def test_a_hole_of_hidden_records_is_stepped_over() -> None:
    def serve(query: dict[str, str]) -> Reply:
        start = int(query["offset"])
        return Reply([number for number in range(start, min(start + 10, 60)) if not 10 <= number < 30], total=60)

    assert walk(PLAIN, serve, PLAIN.first(10)).records == [*range(10), *range(30, 60)]


def test_a_total_that_never_comes_true_ends_after_a_few_empty_pages() -> None:
    result = walk(PLAIN, lambda _: Reply([], total=10**6), PLAIN.first(10))

    assert len(result.queries) == 3
    assert result.ended is Ended.BY_CONCLUSION


@pytest.mark.parametrize("position", ["", "null", '{"offset":-1,"size":10}', '{"page":0,"size":10}'])
def test_refuses_a_position_that_is_not_its_own(position: str) -> None:
    with pytest.raises(CursorUnreadable):
        PLAIN.target(position)
