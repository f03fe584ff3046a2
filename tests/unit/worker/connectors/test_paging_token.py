"""Paging by token: tokens are carried as they are; only a page without one is the end."""

import pytest

from tests.unit.worker.connectors.shelf import Reply, answer, assert_resumable, query_at, walk
from worker.connectors.documents import Path
from worker.connectors.failures import CursorUnreadable, PageUnreadable
from worker.connectors.paging.strategy import Ended, EndSignal
from worker.connectors.paging.token import TokenPaging

PLAIN = TokenPaging("cursor", "limit", Path("paging.next"))
MORE = TokenPaging("cursor", "limit", Path("endCursor"), EndSignal(Path("hasNextPage"), means_last=False))

PAGES: dict[str | None, tuple[list[object], object]] = {
    None: ([1, 2], "a+/="),
    "a+/=": ([], "ü&b"),
    "ü&b": ([3], 17),
    "17": ([4, 5], None),
}


def serve(query: dict[str, str]) -> Reply:
    records, following = PAGES[query.get("cursor")]
    return Reply(records, {"paging": {"next": following}})


def test_follows_tokens_through_an_empty_page_to_the_end() -> None:
    result = walk(PLAIN, serve, PLAIN.first(10))

    assert result.records == [1, 2, 3, 4, 5]
    assert result.ended is Ended.BY_MARKETPLACE
    assert "cursor" not in result.queries[0]
    assert {query["limit"] for query in result.queries} == {"10"}


def test_is_resumable_at_every_page() -> None:
    assert_resumable(PLAIN, serve, walk(PLAIN, serve, PLAIN.first(10)))


@pytest.mark.parametrize("document", [{"paging": {"next": None}}, {"paging": {"next": ""}}, {"paging": {}}, {}])
def test_no_token_in_any_form_is_the_end(document: dict[str, object]) -> None:
    assert walk(PLAIN, lambda _: Reply([1], document), PLAIN.first(10)).ended is Ended.BY_MARKETPLACE


@pytest.mark.parametrize("token", [True, 1.5, [], {"a": 1}])
def test_a_token_that_is_no_text_is_unreadable(token: object) -> None:
    with pytest.raises(PageUnreadable, match=r"paging\.next"):
        walk(PLAIN, lambda _: Reply([1], {"paging": {"next": token}}), PLAIN.first(10))


def test_a_token_on_the_announced_last_page_is_not_followed() -> None:
    result = walk(MORE, lambda _: Reply([1], {"hasNextPage": False, "endCursor": "z"}), MORE.first(10))

    assert len(result.queries) == 1


def test_announced_pages_without_a_token_are_no_end() -> None:
    with pytest.raises(PageUnreadable, match="more pages follow"):
        walk(MORE, lambda _: Reply([1], {"hasNextPage": True, "endCursor": None}), MORE.first(10))


@pytest.mark.parametrize("tokens", [["same"], ["a", "b"], ["a", "b", "c", "d", "e"]])
def test_a_token_seen_before_makes_a_position_seen_before(tokens: list[str]) -> None:
    """The engine's loop guard compares positions: a loop of any length must come back to an equal one."""
    position, seen = PLAIN.first(10), list[str]()
    for number in range(len(tokens) * 2):
        reply = Reply([1], {"paging": {"next": tokens[number % len(tokens)]}})
        step = PLAIN.next(position, answer({}, reply))
        assert isinstance(step, str)
        position = step
        seen.append(position)

    assert seen[len(tokens) :] == seen[: len(tokens)]
    assert query_at(PLAIN, seen[-1])["cursor"] == tokens[-1]


@pytest.mark.parametrize("position", ["", '{"token":5,"size":10}', '{"token":null}', '{"page":1,"size":1}'])
def test_refuses_a_position_that_is_not_its_own(position: str) -> None:
    with pytest.raises(CursorUnreadable):
        PLAIN.target(position)
