"""What the calls of a task's life cost, one client at a time: medians in milliseconds, in process, without HTTP.

The bounds leave room for a noisy machine. As a reference, upserting 100 rows in one transaction takes 13 to 15 ms with
this driver where the binary log is off, as it is here.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from decimal import Decimal

import pytest

from shared.listing import Batch, Listing
from tests.bench.conftest import Figures
from tests.integration.coordinator.acting import Acting, Running, batch, owner_of, running
from tests.integration.seed import Seed

REPEATS = 40
ROWS = 100


def median_ms(work: Callable[[int], object], repeats: int = REPEATS) -> float:
    """The median of ``repeats`` calls after one that warms up; each gets its number."""
    taken = []
    for number in range(repeats + 1):
        begun = time.perf_counter()
        work(number)
        taken.append((time.perf_counter() - begun) * 1000)
    return statistics.median(taken[1:])


def page(number: int, start: int, version: int = 0) -> Batch:
    """A page of ``ROWS`` listings as a shop would have them."""
    listings = [
        Listing(
            listing_ref=f"sku-{start + row:08}",
            title=f"A thing of some sort, number {start + row}, in its version {version}",
            parent_ref=f"product-{(start + row) // 4:08}",
            sku=f"{start + row:08}",
            barcode=f"{4_000_000_000_000 + start + row}",
            price=Decimal(start + row) / 100,
            currency="TRY",
            quantity=row,
            attributes={"colour": "blue", "size": "M", "brand": "A brand", "weight": 1.25},
        )
        for row in range(ROWS)
    ]
    return batch(listings, page=number + 1, processed=(number + 1) * ROWS, token=f"after-{number}")


@pytest.fixture
def crawl(seed: Seed) -> Running:
    return running(seed, lease_seconds=3600)


class TestFlush:
    def flush(
        self, acting: Acting, crawl: Running, start_of: Callable[[int], int], version: Callable[[int], int]
    ) -> float:
        pages = [page(number, start_of(number), version(number)) for number in range(REPEATS + 1)]
        return median_ms(lambda number: acting.flush(crawl.owner, number + 1, pages[number]))

    def test_new_listings(self, acting: Acting, crawl: Running, figures: Figures) -> None:
        taken = self.flush(acting, crawl, lambda number: number * ROWS, lambda _: 0)
        figures.judge(f"flush of {ROWS} new listings", taken, "ms", at_most=30)

    def test_unchanged_listings(self, acting: Acting, crawl: Running, figures: Figures) -> None:
        taken = self.flush(acting, crawl, lambda _: 0, lambda _: 0)
        figures.judge(f"flush of {ROWS} unchanged listings", taken, "ms", at_most=15)

    def test_changed_listings(self, acting: Acting, crawl: Running, figures: Figures) -> None:
        taken = self.flush(acting, crawl, lambda _: 0, lambda number: number)
        figures.judge(f"flush of {ROWS} changed listings", taken, "ms", at_most=45)


def test_heartbeat(acting: Acting, crawl: Running, figures: Figures) -> None:
    taken = median_ms(lambda number: acting.heartbeat(crawl.owner, number, number * ROWS))
    figures.judge("task heartbeat", taken, "ms", at_most=6)


def test_acquire_and_release(acting: Acting, seed: Seed, figures: Figures) -> None:
    for number in range(600):
        seed.task(seed.account(f"market-{number % 6}", size=100))
    boot_id = seed.server("server-a")
    acquired, released = [], []
    for number in range(REPEATS):
        begun = time.perf_counter()
        grant = acting.acquire("server-a", boot_id, number + 1)
        between = time.perf_counter()
        acting.release(owner_of(grant, "server-a", boot_id))
        acquired.append((between - begun) * 1000)
        released.append((time.perf_counter() - between) * 1000)
    figures.judge("acquire among 600 waiting tasks", statistics.median(acquired), "ms", at_most=15)
    figures.judge("release", statistics.median(released), "ms", at_most=10)
