"""Paging by page number."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from worker.connectors.paging.strategy import MAX_EMPTY_PAGES, Answer, Ended, EndSignal, Step, Target, pack, unpack


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The number of a page as the marketplace counts, the page size in records, and the empty pages just before it."""

    page: Annotated[int, msgspec.Meta(ge=0)]
    size: Annotated[int, msgspec.Meta(ge=1)]
    empties: Annotated[int, msgspec.Meta(ge=0)] = 0


@dataclass(frozen=True, slots=True)
class PagePaging:
    """Asks for page 0 (or 1), 2, 3, … of equal size until the marketplace says it is the last, or none is left.

    A page size that the marketplace declares below the one asked for is asked for from then on: page numbers mean
    something else as soon as the size changes, and records would fall between them.
    """

    name: ClassVar[str] = "page"
    version: ClassVar[int] = 1

    page_param: str
    size_param: str
    first_page: int
    end_signal: EndSignal | None = None

    def first(self, page_size: int) -> str:
        """The position of the first page."""
        return pack(Position(self.first_page, page_size))

    def target(self, position: str) -> Target:
        """The page number and the page size as query parameters."""
        here = unpack(position, Position)
        return Target(((self.page_param, str(here.page)), (self.size_param, str(here.size))))

    def next(self, position: str, answer: Answer) -> Step:
        """The next page number, unless the marketplace, its total or empty pages say that there is none."""
        here = unpack(position, Position)
        last = self.end_signal.read(answer.document) if self.end_signal else None
        if last:
            return Ended.BY_MARKETPLACE
        empties = 0 if answer.record_count else here.empties + 1
        if last is None and self._concluded(here, empties, answer):
            return Ended.BY_CONCLUSION
        size = min(here.size, answer.page_size or here.size)
        return pack(Position(here.page + 1, size, empties))

    def _concluded(self, here: Position, empties: int, answer: Answer) -> bool:
        """Whether nothing can follow, judged by the total or else by an empty page.

        What was read is reckoned from the size of this very page: on a marketplace that quietly gives smaller pages
        than it says, a count by the size asked for would stop early. A short last page costs one request more.
        """
        if answer.total is None:
            return empties > 0
        reached = (here.page - self.first_page + 1) * answer.record_count
        return reached >= answer.total or empties >= MAX_EMPTY_PAGES
