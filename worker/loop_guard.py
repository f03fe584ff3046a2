"""Noticing that a marketplace leads a crawl in circles: that ends it as failed, never as a success."""

from worker.connectors.seam import Cursor, Page

INSANE_FACTOR = 3
SMALLEST_SANE_TOTAL = 1_000
MOST_WITHOUT_TOTAL = 1_000_000
"""What ends a crawl of a marketplace that reports no total. A first crawl has no last size either, and a catalogue may
grow tenfold overnight: the factor would fail such an account again at each try, for ever."""
UNTOLD_SANE_TOTAL = 1_000_000
"""Where neither the marketplace nor an earlier crawl has told a number: an account may be large at first sight."""


class PagingLoopError(Exception):
    """The same place, the same page, or more records than there can be."""


class LoopGuard:
    """Watches one crawl's pages; keeps 16 bytes or so for each, whatever their size."""

    def __init__(self, processed_count: int, account_size: int | None) -> None:
        self._counted = processed_count
        self._largest_told = account_size
        self._positions: set[int] = set()
        self._fingerprints: set[int] = set()

    def asked(self, cursor: Cursor) -> None:
        """A page is about to be asked for. Raises ``PagingLoopError`` for a place that was asked for before."""
        self._new(self._positions, hash(cursor.position), "the marketplace led back to a page that was read before")

    def read(self, page: Page) -> None:
        """A page was read; one without records counts as one, so empty pages cannot go on for ever."""
        if page.fingerprint is not None:
            self._new(self._fingerprints, hash(page.fingerprint), "the marketplace gave the same page again")
        if page.total is not None:
            self._largest_told = max(self._largest_told or 0, page.total)
        self._counted += max(1, len(page.records))
        expected = UNTOLD_SANE_TOTAL if self._largest_told is None else max(SMALLEST_SANE_TOTAL, self._largest_told)
        if self._counted > INSANE_FACTOR * expected:
            raise PagingLoopError(f"{self._counted} records were read where about {expected} were expected")

    def _new(self, seen: set[int], key: int, otherwise: str) -> None:
        if key in seen:
            raise PagingLoopError(otherwise)
        seen.add(key)
