"""What every paging strategy is: a pure walk from position to position, resumable at each of them."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol, TypeVar

import msgspec

from worker.connectors.documents import MISSING, Path
from worker.connectors.failures import CursorUnreadable, PageUnreadable
from worker.connectors.seam import Response

MAX_EMPTY_PAGES = 3
"""So many empty pages in a row are read on the word of a total before the walk is taken to have ended."""

P = TypeVar("P", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Target:
    """What to ask for: query parameters, or a whole path and query that the marketplace handed out."""

    params: tuple[tuple[str, str], ...] = ()
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a strategy sees of an answer; `page_size` is the one the marketplace says it used, if it says so."""

    response: Response
    document: object
    record_count: int
    total: int | None
    page_size: int | None


class Ended(Enum):
    """Who said that a page was the last one."""

    BY_MARKETPLACE = auto()
    BY_CONCLUSION = auto()


Step = str | Ended
"""The next page's position, or that there is none."""


class Strategy(Protocol):
    """One way of paging. `name` and `version` change whenever its positions change their meaning."""

    @property
    def name(self) -> str:
        """The strategy's name in descriptions."""

    @property
    def version(self) -> int:
        """The version of its positions."""

    def first(self, page_size: int) -> str:
        """The position of the first page, of `page_size` records."""

    def target(self, position: str) -> Target:
        """What to ask for to get the page at a position. Raises `CursorUnreadable`."""

    def next(self, position: str, answer: Answer) -> Step:
        """The position after the page at `position`. Raises `PageUnreadable` when the answer does not tell it."""


@dataclass(frozen=True, slots=True)
class EndSignal:
    """Where a marketplace says whether more pages follow: `last: true`, `hasNextPage: false`, `next: null`.

    With `means_last` a true value ends the walk, without it a false, null or empty one does.
    """

    path: Path
    means_last: bool

    def read(self, document: object) -> bool | None:
        """True: this was the last page. False: more follow. None: the answer does not say.

        Raises `PageUnreadable` for a value that is neither yes nor no.
        """
        value = self.path.find(document)
        if value is MISSING:
            return None
        if isinstance(value, bool):
            return value is self.means_last
        if self.means_last or not (value is None or isinstance(value, str | int)):
            raise PageUnreadable(f"{self.path.text} in the answer does not say whether more pages follow")
        return not value


def pack(position: msgspec.Struct) -> str:
    """A strategy's position as the opaque text in a cursor."""
    return msgspec.json.encode(position).decode()


def unpack(position: str, kind: type[P]) -> P:
    """The position that `pack` wrote. Raises `CursorUnreadable`."""
    try:
        return msgspec.json.decode(position, type=kind)
    except msgspec.DecodeError as error:
        raise CursorUnreadable(f"The cursor's position is not one of this paging strategy: {error}") from error
