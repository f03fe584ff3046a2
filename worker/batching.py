"""Cutting pages into batches: whole pages, about ``flush_records`` together, never over the bounds of a batch.

A page that is larger than a batch is split, and only its last batch moves the checkpoint: what a checkpoint says is
always durable with it (I7).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import msgspec

from shared.listing import MAX_BATCH_BYTES, MAX_BATCH_REJECTS, Listing, Reject
from worker.running_task import Checkpoint

_ENVELOPE_BYTES = 64 * 1024


@dataclass(frozen=True)
class PageRead:
    """A fetched and normalised page, and the checkpoint that is reached once it is durable."""

    listings: Sequence[Listing]
    rejects: Sequence[Reject]
    reached: Checkpoint
    guessed: bool


@dataclass
class Draft:
    """A batch in the making; records are kept encoded, so their size is known and they are encoded once."""

    checkpoint: Checkpoint
    listings: list[msgspec.Raw] = field(default_factory=list)
    rejects: list[msgspec.Raw] = field(default_factory=list)
    bytes: int = 0
    guessed: bool = False
    pages: int = 0

    @property
    def records(self) -> int:
        """Listings and rejects."""
        return len(self.listings) + len(self.rejects)

    def fits(self, size: int, max_records: int) -> bool:
        """Whether one more record of ``size`` bytes may be added."""
        return (
            self.records < max_records
            and len(self.rejects) < MAX_BATCH_REJECTS
            and self.bytes + size + _ENVELOPE_BYTES <= MAX_BATCH_BYTES
        )

    def add(self, record: msgspec.Raw, *, rejected: bool) -> None:
        """Append an encoded record."""
        (self.rejects if rejected else self.listings).append(record)
        self.bytes += len(bytes(record)) + 1


class Batcher:
    """Turns one crawl's pages into drafts, starting at a checkpoint."""

    def __init__(self, checkpoint: Checkpoint, flush_records: int, max_records: int) -> None:
        self._flush_records = flush_records
        self._max_records = max_records
        self._draft = Draft(checkpoint)

    @property
    def reached(self) -> Checkpoint:
        """What is durable once all drafts so far are flushed."""
        return self._draft.checkpoint

    def add(self, page: PageRead) -> Iterator[Draft]:
        """Take a page; yields the drafts that are ready to be flushed, in order."""
        records = [(_encode(listing), False) for listing in page.listings]
        records += [(_encode(reject), True) for reject in page.rejects]
        if self._draft.pages and not self._takes_whole(records):
            yield self._cut()
        for record, rejected in records:
            if not self._draft.fits(len(bytes(record)), self._max_records):
                yield self._cut()
            self._draft.add(record, rejected=rejected)
        self._draft.checkpoint = page.reached
        self._draft.guessed |= page.guessed
        self._draft.pages += 1
        if self._draft.records >= self._flush_records:
            yield self._cut()

    def rest(self) -> Draft | None:
        """What is left at the end of the crawl, or when letting go; None when all is flushed."""
        return self._cut() if self._draft.pages else None

    def _takes_whole(self, records: list[tuple[msgspec.Raw, bool]]) -> bool:
        size = sum(len(bytes(record)) + 1 for record, _ in records)
        rejects = sum(rejected for _, rejected in records)
        return (
            self._draft.records + len(records) <= self._max_records
            and len(self._draft.rejects) + rejects <= MAX_BATCH_REJECTS
            and self._draft.bytes + size + _ENVELOPE_BYTES <= MAX_BATCH_BYTES
        )

    def _cut(self) -> Draft:
        ready = self._draft
        self._draft = Draft(ready.checkpoint)
        return ready


def _encode(record: Listing | Reject) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(record))
