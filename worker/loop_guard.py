"""Noticing that a marketplace leads a crawl in circles: that ends it as failed, never as a success."""

from worker.connectors.seam import Cursor, Page

INSANE_FACTOR = 3
SMALLEST_SANE_TOTAL = 1_000
UNTOLD_SANE_TOTAL = 1_000_000
"""Where the marketplace tells no total. An account may be large at first sight, and may have grown tenfold since its
last crawl: a bound by its last size would then fail it again at each try, for ever."""


class PagingLoopError(Exception):
    """The same place, the same page, or more records than there can be."""


class LoopGuard:
    """Watches one crawl's pages; keeps 16 bytes or so for each, whatever their size."""

    def __init__(self, processed_count: int, account_size: int | None) -> None:
        self._counted = processed_count
        self._least_expected = max(SMALLEST_SANE_TOTAL, account_size or 0)
        self._largest_told: int | None = None
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
        told = UNTOLD_SANE_TOTAL if self._largest_told is None else self._largest_told
        expected = max(self._least_expected, told)
        if self._counted > INSANE_FACTOR * expected:
            raise PagingLoopError(f"{self._counted} records were read where about {expected} were expected")

    def _new(self, seen: set[int], key: int, otherwise: str) -> None:
        if key in seen:
            raise PagingLoopError(otherwise)
        seen.add(key)
