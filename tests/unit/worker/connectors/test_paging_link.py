"""Paging by links: `rel="next"` is found as RFC 8288 writes it, and followed inside the origin only."""

import pytest

from tests.unit.worker.connectors.shelf import BASE, Reply, answer, assert_resumable, walk
from worker.connectors.documents import Path
from worker.connectors.failures import CursorUnreadable, Misdirected, PageUnreadable
from worker.connectors.origin import Origin
from worker.connectors.paging.link import LinkPaging, next_link
from worker.connectors.paging.strategy import Ended

ORIGIN = Origin.parse(BASE)
HEADER = LinkPaging("limit", ORIGIN)
BODY = LinkPaging("limit", ORIGIN, Path("links.next"))

PAGES: dict[str | None, tuple[list[object], str | None]] = {
    None: ([1, 2], f"{BASE}/items?after=2&limit=10"),
    "2": ([], "/v1/items?after=x%2By"),
    "x+y": ([3], "?after=3"),
    "3": ([4], None),
}


def by_header(query: dict[str, str]) -> Reply:
    records, following = PAGES[query.get("after")]
    first = f'<{BASE}/items?limit=10>; rel="first"'
    return Reply(records, headers={"link": f'{first}, <{following}>; rel="next"' if following else first})


def by_body(query: dict[str, str]) -> Reply:
    records, following = PAGES[query.get("after")]
    return Reply(records, {"links": {"next": following}})


@pytest.mark.parametrize(("strategy", "serve"), [(HEADER, by_header), (BODY, by_body)])
def test_follows_absolute_and_relative_links_through_an_empty_page(strategy: LinkPaging, serve: object) -> None:
    assert callable(serve)
    result = walk(strategy, serve, strategy.first(10))

    assert result.records == [1, 2, 3, 4]
    assert result.ended is Ended.BY_MARKETPLACE
    assert result.queries[0] == {"limit": "10"}
    assert_resumable(strategy, serve, result)


@pytest.mark.parametrize(
    ("header", "link"),
    [
        ("", None),
        ("<https://a/2>; rel=next", "https://a/2"),
        ('<https://a/2>; REL="Next"', "https://a/2"),
        ('<https://a/1>; rel="prev", <https://a/3>; rel="next"', "https://a/3"),
        ('<https://a/1,2>; rel="prev",<https://a/3,4>;rel="next"', "https://a/3,4"),
        ('<https://a/2>; rel="last next"', "https://a/2"),
        ('<https://a/2>; title="a, b; rel=next"; rel="prev"', None),
        ('<https://a/2>; title="x"; rel="next"', "https://a/2"),
        ('<https://a/2>; rel="nextish"', None),
        ("https://a/2; rel=next", None),
        ("<https://a/2>", None),
    ],
)
def test_reads_the_link_header(header: str, link: str | None) -> None:
    assert next_link(header) == link


@pytest.mark.parametrize(
    "link",
    [
        "http://shop.test/v1/items",
        "https://evil.test/v1/items",
        "https://shop.test:8443/v1/items",
        "https://user@shop.test/v1/items",
        "//evil.test/v1/items",
        "https://shop.test/v2/items",
        "https://shop.test/v1evil/items",
        "https://shop.test/v1/../admin",
        "https://shop.test/v1/%2e%2e/admin",
        "https://shop.test/v1/%2E./admin",
        "https://shop.test/v1/..\\admin",
        "https://shop.test/v1/a\x7fb",
        "https://[bad/v1/items",
        "https://shop.test:port/v1/items",
        "javascript:alert(1)",
    ],
)
def test_refuses_a_link_out_of_the_origin(link: str) -> None:
    with pytest.raises(Misdirected):
        BODY.next(BODY.first(10), answer({}, Reply([1], {"links": {"next": link}})))


def test_reads_a_hostile_link_header_in_time() -> None:
    assert next_link("<" * 60_000) is None
    assert next_link("<a>;x" + " " * 60_000) is None
    assert next_link("<a>" + ';x="' * 20_000) is None


def test_keeps_only_path_and_query_of_a_link() -> None:
    step = BODY.next(BODY.first(10), answer({}, Reply([1], {"links": {"next": f"{BASE}/items?after=2#top"}})))

    assert isinstance(step, str)
    assert BODY.target(step).link == "/items?after=2"


def test_a_link_that_is_no_text_is_unreadable() -> None:
    with pytest.raises(PageUnreadable, match=r"links\.next"):
        BODY.next(BODY.first(10), answer({}, Reply([1], {"links": {"next": 5}})))


@pytest.mark.parametrize("position", ["", '{"link":"https://evil.test/","size":10}', '{"link":"items","size":10}'])
def test_refuses_a_position_that_is_not_its_own(position: str) -> None:
    with pytest.raises(CursorUnreadable):
        BODY.target(position)
