"""At most one page waits between the thread that fetches and the one that flushes."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from worker.batching import PageRead
from worker.handoff import Handoff
from worker.running_task import Checkpoint

PATIENCE_SECONDS = 10


def page(number: int) -> PageRead:
    return PageRead([], [], Checkpoint(number, None, 0, None), False)


class Fetcher(threading.Thread):
    """Puts pages as fast as they are taken; ``put`` counts those that were accepted."""

    def __init__(self, handoff: Handoff, count: int) -> None:
        super().__init__(daemon=True)
        self.put = threading.Semaphore(0)
        self.accepted: list[bool] = []
        self._handoff = handoff
        self._count = count
        self.start()

    def run(self) -> None:
        for number in range(self._count):
            self.accepted.append(self._handoff.put(page(number)))
            self.put.release()
            if not self.accepted[-1]:
                return
        self._handoff.end()

    def has_put(self, within_seconds: float = PATIENCE_SECONDS) -> bool:
        return self.put.acquire(timeout=within_seconds)


def numbers(pages: Iterator[PageRead]) -> list[int]:
    return [each.reached.current_page for each in pages]


def test_pages_come_in_order_and_end() -> None:
    handoff = Handoff()
    Fetcher(handoff, 50)
    assert numbers(handoff.pages()) == list(range(50))
    assert handoff.failure is None


def test_never_more_than_one_page_waits() -> None:
    handoff = Handoff()
    fetcher = Fetcher(handoff, 3)
    assert fetcher.has_put()
    assert not fetcher.has_put(within_seconds=0.2)
    pages = handoff.pages()
    next(pages)
    assert fetcher.has_put()
    assert not fetcher.has_put(within_seconds=0.2)
    assert numbers(pages) == [1, 2]


def test_closing_releases_who_wants_to_put() -> None:
    handoff = Handoff()
    fetcher = Fetcher(handoff, 5)
    assert fetcher.has_put()
    handoff.close()
    assert fetcher.has_put()
    fetcher.join(PATIENCE_SECONDS)
    assert fetcher.accepted == [True, False]


def test_what_was_put_before_a_failure_is_still_handed_over() -> None:
    handoff = Handoff()
    failure = RuntimeError("the marketplace broke")
    handoff.put(page(1))
    handoff.end(failure)
    assert numbers(handoff.pages()) == [1]
    assert handoff.failure is failure
