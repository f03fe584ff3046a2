"""Handing fetched pages from the thread that fetches to the one that flushes, at most one waiting in between.

With one page waiting and one being fetched, two pages at most are ahead of what is being flushed, whatever the
account's size; a crash costs reading those again.
"""

import threading
from collections.abc import Iterator

from worker.batching import PageRead


class Handoff:
    """A place for one page, and for how the reading ended."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._page: PageRead | None = None
        self._ended = False
        self._closed = False
        self._failure: Exception | None = None

    def put(self, page: PageRead) -> bool:
        """Wait for the place to be free and put a page there; False when nobody takes pages any more."""
        with self._condition:
            self._condition.wait_for(lambda: self._page is None or self._closed)
            if self._closed:
                return False
            self._page = page
            self._condition.notify_all()
            return True

    def end(self, failure: Exception | None = None) -> None:
        """Nothing more comes: the crawl's end, or the reason why it broke off."""
        with self._condition:
            self._ended, self._failure = True, failure
            self._condition.notify_all()

    def close(self) -> None:
        """Nothing more is taken."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    @property
    def failure(self) -> Exception | None:
        """Why the reading broke off, once ``pages`` has ended; None at the crawl's end."""
        return self._failure

    def pages(self) -> Iterator[PageRead]:
        """The pages in order, until the reading has ended and all of them are taken."""
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._page is not None or self._ended)
                if self._page is None:
                    return
                page, self._page = self._page, None
                self._condition.notify_all()
            yield page
