"""Paging by an opaque token that each page hands out for the next one."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from worker.connectors.documents import MISSING, Path
from worker.connectors.failures import PageUnreadable
from worker.connectors.paging.strategy import Answer, Ended, EndSignal, Step, Target, pack, unpack


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The token of a page, None for the first one, and the page size in records."""

    token: str | None
    size: Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class TokenPaging:
    """Follows tokens until a page has none. An empty page with a token is not the end."""

    name: ClassVar[str] = "token"
    version: ClassVar[int] = 1

    token_param: str
    size_param: str
    next_path: Path
    end_signal: EndSignal | None = None

    def first(self, page_size: int) -> str:
        """The position of the first page, which has no token."""
        return pack(Position(None, page_size))

    def target(self, position: str) -> Target:
        """The page size, and the token where there is one, as query parameters."""
        here = unpack(position, Position)
        size = (self.size_param, str(here.size))
        return Target((size,) if here.token is None else (size, (self.token_param, here.token)))

    def next(self, position: str, answer: Answer) -> Step:
        """The page of the token in the answer; without a token the marketplace has said that it ended.

        Raises `PageUnreadable` when the token is neither text nor a number, or is missing although more is announced.
        """
        here = unpack(position, Position)
        last = self.end_signal.read(answer.document) if self.end_signal else None
        if last:
            return Ended.BY_MARKETPLACE
        token = self._token(answer.document)
        if token:
            return pack(Position(token, here.size))
        if last is None:
            return Ended.BY_MARKETPLACE
        raise PageUnreadable(f"The answer says that more pages follow, but has no token at {self.next_path.text}")

    def _token(self, document: object) -> str:
        token = self.next_path.find(document)
        if token is None or token is MISSING:
            return ""
        if isinstance(token, bool) or not isinstance(token, str | int):
            raise PageUnreadable(f"The next-page token at {self.next_path.text} is neither text nor a number")
        return str(token)
