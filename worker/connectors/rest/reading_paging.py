"""The `[paging]` table of a description."""

from worker.connectors.documents import Path
from worker.connectors.origin import Origin
from worker.connectors.paging.link import LinkPaging
from worker.connectors.paging.offset import OffsetPaging
from worker.connectors.paging.page import PagePaging
from worker.connectors.paging.strategy import EndSignal, Strategy
from worker.connectors.paging.token import TokenPaging
from worker.connectors.rest.tables import Table


def read_strategy(table: Table, origin: Origin) -> Strategy:
    """The paging strategy that the table names, with its parameters' names."""
    readers = {"page": _page, "offset": _offset, "token": _token, "link": _link}
    reader = table.choice("strategy", readers, None, required=True)
    if reader is None:
        return LinkPaging("", origin)
    strategy = reader(table, origin)
    table.end()
    return strategy


def _page(table: Table, _: Origin) -> Strategy:
    return PagePaging(
        page_param=table.text("page_param", "page"),
        size_param=table.text("size_param", "size"),
        first_page=table.integer("first_page", 0, least=0, required=True),
        end_signal=_end_signal(table),
    )


def _offset(table: Table, _: Origin) -> Strategy:
    return OffsetPaging(
        offset_param=table.text("offset_param", "offset"),
        limit_param=table.text("limit_param", "limit"),
        end_signal=_end_signal(table),
    )


def _token(table: Table, _: Origin) -> Strategy:
    return TokenPaging(
        token_param=table.text("token_param", required=True),
        size_param=table.text("size_param", "limit"),
        next_path=Path(table.text("next_path", required=True)),
        end_signal=_end_signal(table),
    )


def _link(table: Table, origin: Origin) -> Strategy:
    next_path = table.text("next_path")
    return LinkPaging(
        size_param=table.text("size_param", "limit"),
        origin=origin,
        next_path=Path(next_path) if next_path else None,
    )


def _end_signal(table: Table) -> EndSignal | None:
    """`last_path` is true on the last page, `more_path` is false, null or empty there."""
    last, more = table.text("last_path"), table.text("more_path")
    if last and more:
        table.refuse("more_path", "says what last_path says: keep one of them")
    if last or more:
        return EndSignal(Path(last or more), means_last=bool(last))
    return None
