"""Paging by number: all is read, whatever the marketplace says of its sizes, and the end is no surer than told."""

import pytest

from tests.unit.worker.connectors.shelf import Reply, Serve, assert_resumable, walk
from worker.connectors.documents import Path
from worker.connectors.failures import CursorUnreadable, PageUnreadable
from worker.connectors.paging.page import PagePaging
from worker.connectors.paging.strategy import Ended, EndSignal

PLAIN = PagePaging("page", "size", 0)
LAST = PagePaging("page", "size", 1, EndSignal(Path("last"), means_last=True))
MORE = PagePaging("page", "size", 1, EndSignal(Path("hasNext"), means_last=False))


def shop(count: int, *, clamp: int = 1000, first: int = 0, total: bool = True, says_size: bool = False) -> Serve:
    def serve(query: dict[str, str]) -> Reply:
        size = min(int(query["size"]), clamp)
        start = (int(query["page"]) - first) * size
        records = list(range(count))[start : start + size]
        last = start + size >= count
        return Reply(
            records,
            {"last": last, "hasNext": not last},
            total=count if total else None,
            page_size=size if says_size else None,
        )

    return serve


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 95, 100, 101])
@pytest.mark.parametrize("clamp", [1000, 10, 4, 1])
@pytest.mark.parametrize("total", [True, False])
@pytest.mark.parametrize("says_size", [True, False])
def test_reads_everything_exactly_once(count: int, clamp: int, *, total: bool, says_size: bool) -> None:
    serve = shop(count, clamp=clamp, total=total, says_size=says_size)

    result = walk(PLAIN, serve, PLAIN.first(10))

    assert result.records == list(range(count))
    assert result.ended is Ended.BY_CONCLUSION


def test_is_resumable_at_every_page() -> None:
    serve = shop(95)
    assert_resumable(PLAIN, serve, walk(PLAIN, serve, PLAIN.first(10)))


def test_counts_pages_from_where_the_marketplace_does() -> None:
    result = walk(LAST, shop(25, first=1), LAST.first(10))

    assert [query["page"] for query in result.queries] == ["1", "2", "3"]


@pytest.mark.parametrize("strategy", [LAST, MORE])
@pytest.mark.parametrize("count", [0, 20, 25])
def test_ends_by_the_marketplaces_word(strategy: PagePaging, count: int) -> None:
    result = walk(strategy, shop(count, first=1), strategy.first(10))

    assert result.ended is Ended.BY_MARKETPLACE
    assert result.records == list(range(count))
    assert len(result.queries) == max(1, -(-count // 10)), "no request may be wasted behind the announced end"


def test_a_last_page_that_is_an_exact_multiple_needs_no_further_request_with_a_total() -> None:
    assert len(walk(PLAIN, shop(30), PLAIN.first(10)).queries) == 3


def test_without_a_total_only_an_empty_page_ends() -> None:
    result = walk(PLAIN, shop(25, total=False), PLAIN.first(10))

    assert len(result.queries) == 4, "a short page may be a clamp, not the end"


def test_more_pages_announced_behind_an_empty_one_are_read() -> None:
    pages = {"1": [], "2": [1, 2], "3": []}

    def serve(query: dict[str, str]) -> Reply:
        return Reply(pages[query["page"]], {"last": query["page"] == "3"})

    assert walk(LAST, serve, LAST.first(10)).records == [1, 2]


def test_a_clamp_that_shrinks_while_reading_loses_nothing() -> None:
    def serve(query: dict[str, str]) -> Reply:
        return shop(97, clamp=10 if query["page"] in {"0", "1"} else 4)(query)

    assert set(walk(PLAIN, serve, PLAIN.first(10)).records) == set(range(97))


def test_a_clamp_that_is_declared_and_then_lifted_loses_nothing() -> None:
    def serve(query: dict[str, str]) -> Reply:
        return shop(97, clamp=4 if query["page"] in {"0", "1"} else 100, says_size=True)(query)

    result = walk(PLAIN, serve, PLAIN.first(10))

    assert result.records == list(range(97)), "page numbers must keep counting the pages of the declared size"


def test_a_total_that_never_comes_true_ends_after_a_few_empty_pages() -> None:
    result = walk(PLAIN, lambda query: Reply([] if query["page"] != "0" else [1], total=10**6), PLAIN.first(10))

    assert len(result.queries) == 4
    assert result.ended is Ended.BY_CONCLUSION


def test_an_end_signal_that_is_missing_falls_back_to_the_total() -> None:
    def serve(query: dict[str, str]) -> Reply:
        return Reply(shop(25, first=1)(query).records, total=25)

    result = walk(LAST, serve, LAST.first(10))

    assert result.records == list(range(25))
    assert result.ended is Ended.BY_CONCLUSION


@pytest.mark.parametrize(("strategy", "said"), [(LAST, "no"), (LAST, None), (MORE, [1]), (MORE, {})])
def test_an_end_signal_that_is_neither_yes_nor_no_is_unreadable(strategy: PagePaging, said: object) -> None:
    with pytest.raises(PageUnreadable, match="whether more pages follow"):
        walk(strategy, lambda _: Reply([1], {"last": said, "hasNext": said}), strategy.first(10))


@pytest.mark.parametrize(
    "position", ["", "{}", '{"page":-1,"size":10}', '{"page":0,"size":0}', '{"offset":0,"size":10}', '{"page":"0"}']
)
def test_refuses_a_position_that_is_not_its_own(position: str) -> None:
    with pytest.raises(CursorUnreadable):
        PLAIN.target(position)
