"""A marketplace in memory for the paging tests, and a walk through it that is resumed at every page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import msgspec

from worker.connectors.paging.strategy import Answer, Ended, Strategy
from worker.connectors.seam import Response

BASE = "https://shop.test/v1"


@dataclass(frozen=True)
class Reply:
    """What the marketplace answers: its records, and the document and headers around them."""

    records: Sequence[object]
    document: Mapping[str, object] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    total: int | None = None
    page_size: int | None = None


Serve = Callable[[dict[str, str]], Reply]


@dataclass
class Walk:
    """What a walk read: the records, the query of every request, each page's position, and its end."""

    records: list[object] = field(default_factory=list)
    queries: list[dict[str, str]] = field(default_factory=list)
    positions: list[str] = field(default_factory=list)
    ended: Ended | None = None


def walk(strategy: Strategy, serve: Serve, position: str, most: int = 200) -> Walk:
    """Read from a position to the end; only the position, as text, is carried from page to page."""
    result = Walk()
    while result.ended is None:
        assert len(result.queries) < most, f"the walk did not end after {most} pages: {result.positions[-5:]}"
        query = query_at(strategy, position)
        reply = serve(query)
        result.positions.append(position)
        result.queries.append(query)
        result.records += reply.records
        step = strategy.next(position, answer(query, reply))
        if isinstance(step, Ended):
            result.ended = step
        else:
            position = step
    return result


def answer(query: Mapping[str, str], reply: Reply) -> Answer:
    """A reply as a strategy sees it."""
    response = Response(200, reply.headers, b"", f"{BASE}/items?page={query.get('page', '')}", 0.0)
    return Answer(response, reply.document, len(reply.records), reply.total, reply.page_size)


def query_at(strategy: Strategy, position: str) -> dict[str, str]:
    """The query that a strategy sends for a position."""
    target = strategy.target(position)
    return dict(parse_qsl(urlsplit(target.link).query) if target.link else target.params)


def assert_resumable(strategy: Strategy, serve: Serve, whole: Walk) -> None:
    """From each page's position, as it would stand in a checkpoint, the rest is read as if nothing had happened."""
    assert len(whole.positions) > 1
    read_before = 0
    for number, position in enumerate(whole.positions):
        stored = msgspec.json.decode(msgspec.json.encode(position))
        rest = walk(strategy, serve, stored)
        assert rest.records == whole.records[read_before:], f"resumed at page {number + 1}"
        assert rest.ended == whole.ended
        read_before += len(serve(query_at(strategy, position)).records)
