"""An account's live catalogue: what is on sale now, while things change, appear and vanish."""

from bisect import bisect_right, insort
from collections.abc import Iterator
from hashlib import blake2b
from threading import Lock
from typing import Literal

import msgspec

from deploy.sandbox.items import Item, Maker

_STREAM_CHUNK = 200


class Drift(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What happens to a catalogue at once: so many items change, appear (at its head or tail) and vanish."""

    changes: int = 0
    appears: int = 0
    vanishes: int = 0
    at: Literal["head", "tail"] = "tail"


class Catalogue:
    """The items of an account, ordered by index; only what drifted is remembered, items are made when asked for.

    Safe for many threads. An offset counts living items; an index stays with its item for ever.
    """

    def __init__(self, maker: Maker, size: int) -> None:
        self._maker = maker
        self._first = 0
        self._behind = size
        self._vanished: list[int] = []
        self._versions: dict[int, int] = {}
        self._drifts = 0
        self._lock = Lock()

    def count(self) -> int:
        """How many items live."""
        with self._lock:
            return self._count()

    def page(self, offset: int, limit: int) -> list[Item]:
        """Up to `limit` living items from an offset on."""
        with self._lock:
            return [self._item(self._index(place)) for place in range(offset, min(offset + limit, self._count()))]

    def after(self, index: int | None, limit: int) -> tuple[list[Item], int | None]:
        """Up to `limit` living items behind an index (None: from the start), and the index to go on behind, if any."""
        with self._lock:
            start = 0 if index is None else self._offset_behind(index)
            behind = min(start + limit, self._count())
            indexes = [self._index(place) for place in range(start, behind)]
            last = indexes[-1] if indexes and behind < self._count() else None
            return [self._item(index) for index in indexes], last

    def items(self) -> Iterator[Item]:
        """All living items, made in small portions."""
        offset = 0
        while portion := self.page(offset, _STREAM_CHUNK):
            yield from portion
            offset += len(portion)

    def drift(self, drift: Drift) -> None:
        """Let something happen; what it hits follows from the account and the number of drifts before."""
        with self._lock:
            self._drifts += 1
            for turn in range(min(drift.changes, self._count())):
                index = self._index(self._chance("change", turn))
                self._versions[index] = self._versions.get(index, 0) + 1
            for turn in range(min(drift.vanishes, self._count())):
                insort(self._vanished, self._index(self._chance("vanish", turn)))
            if drift.at == "head":
                self._first -= drift.appears
            else:
                self._behind += drift.appears

    def _count(self) -> int:
        return self._behind - self._first - len(self._vanished)

    def _index(self, offset: int) -> int:
        """The index of the living item at an offset: as many further as have vanished up to there."""
        index = self._first + offset
        while (further := self._first + offset + bisect_right(self._vanished, index)) != index:
            index = further
        return index

    def _offset_behind(self, index: int) -> int:
        """How many living items have an index up to this one."""
        return max(index + 1 - self._first, 0) - bisect_right(self._vanished, index)

    def _item(self, index: int) -> Item:
        return self._maker.item(index, self._versions.get(index, 0))

    def _chance(self, what: str, turn: int) -> int:
        draw = f"{self._maker.seed}|{self._maker.account_ref}|{self._drifts}|{what}|{turn}"
        return int.from_bytes(blake2b(draw.encode(), digest_size=8).digest(), "big") % self._count()
