"""Paging by offset and limit."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from worker.connectors.paging.strategy import MAX_EMPTY_PAGES, Answer, Ended, EndSignal, Step, Target, pack, unpack


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How many records lie before the page, the page size in records, and the empty pages just before it."""

    offset: Annotated[int, msgspec.Meta(ge=0)]
    size: Annotated[int, msgspec.Meta(ge=1)]
    empties: Annotated[int, msgspec.Meta(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class OffsetPaging:
    """Asks for `limit` records from `offset` on, and goes on behind the records that really came.

    A marketplace that gives fewer than asked for, with or without a word, loses nothing.
    """

    name: ClassVar[str] = "offset"
    version: ClassVar[int] = 1

    offset_param: str
    limit_param: str
    end_signal: EndSignal | None = None

    def first(self, page_size: int) -> str:
        """The position of the first page."""
        return pack(Position(0, page_size))

    def target(self, position: str) -> Target:
        """Offset and limit as query parameters."""
        here = unpack(position, Position)
        return Target(((self.offset_param, str(here.offset)), (self.limit_param, str(here.size))))

    def next(self, position: str, answer: Answer) -> Step:
        """The offset behind this page, unless the marketplace, its total or empty pages say that nothing is there."""
        here = unpack(position, Position)
        last = self.end_signal.read(answer.document) if self.end_signal else None
        if last:
            return Ended.BY_MARKETPLACE
        empties = 0 if answer.record_count else here.empties + 1
        if last is None and _concluded(here.offset + answer.record_count, empties, answer.total):
            return Ended.BY_CONCLUSION
        return pack(Position(here.offset + (answer.record_count or here.size), here.size, empties))


def _concluded(reached: int, empties: int, total: int | None) -> bool:
    if total is None:
        return empties > 0
    return reached >= total or empties >= MAX_EMPTY_PAGES
