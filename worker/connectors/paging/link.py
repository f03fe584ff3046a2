"""Paging by links: the marketplace hands out the whole address of the next page."""

import re
from dataclasses import dataclass
from typing import Annotated, ClassVar

import msgspec

from worker.connectors.documents import MISSING, Path
from worker.connectors.failures import PageUnreadable
from worker.connectors.origin import Origin
from worker.connectors.paging.strategy import Answer, Ended, Step, Target, pack, unpack

_PARAMETER = r";\s*([^\s;,=]+)\s*(?:=\s*(?:\"([^\"]*)\"|([^\s;,\"]*)))?"
_LINK = re.compile(rf"<([^<>]*)>((?:\s*{_PARAMETER})*)")
_PARAMETERS = re.compile(_PARAMETER)


class Position(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The path and query of a page below its origin, None for the first one, and the first page's size in records."""

    link: Annotated[str, msgspec.Meta(pattern="^/")] | None
    size: Annotated[int, msgspec.Meta(ge=1)]


@dataclass(frozen=True, slots=True)
class LinkPaging:
    """Follows the `Link` header's `rel="next"` (RFC 8288), or a link in the body, until there is none.

    Only path and query are kept of a link, and only of one that stays inside the origin.
    """

    name: ClassVar[str] = "link"
    version: ClassVar[int] = 1

    size_param: str
    origin: Origin
    next_path: Path | None = None

    def first(self, page_size: int) -> str:
        """The position of the first page."""
        return pack(Position(None, page_size))

    def target(self, position: str) -> Target:
        """The page size for the first page, the link itself for every other one."""
        here = unpack(position, Position)
        return Target(((self.size_param, str(here.size)),)) if here.link is None else Target(link=here.link)

    def next(self, position: str, answer: Answer) -> Step:
        """The page of the link in the answer; without a link the marketplace has said that it ended.

        Raises `PageUnreadable` when the link is not text, and `Misdirected` when it leads elsewhere.
        """
        here = unpack(position, Position)
        link = self._link(answer)
        if not link:
            return Ended.BY_MARKETPLACE
        return pack(Position(self.origin.relative(answer.response.url, link), here.size))

    def _link(self, answer: Answer) -> str | None:
        if self.next_path is None:
            return next_link(answer.response.headers.get("link", ""))
        link = self.next_path.find(answer.document)
        if link is None or link is MISSING:
            return None
        if not isinstance(link, str):
            raise PageUnreadable(f"The next-page link at {self.next_path.text} is not text")
        return link


def next_link(header: str) -> str | None:
    """The target of the first link with the relation `next` in a `Link` header (RFC 8288, section 3)."""
    for link in _LINK.finditer(header):
        for name, quoted, bare in _PARAMETERS.findall(link[2]):
            if name.lower() == "rel" and "next" in (quoted or bare).lower().split():
                return link[1].strip()
    return None
