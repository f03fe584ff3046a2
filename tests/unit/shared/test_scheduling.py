"""The scheduling formulas, and what follows from them: nobody starves, whatever arrives."""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared import scheduling
from shared.states import SizeClass

DUE = datetime(2030, 1, 1)
DAY = 86_400.0
THETA = scheduling.theta_seconds(DAY)


class TestDispatchKey:
    def test_theta_is_a_twelfth_of_the_longest_interval(self) -> None:
        assert scheduling.theta_seconds(24 * 3600) == pytest.approx(2 * 3600)

    @pytest.mark.parametrize(
        ("size", "doublings"),
        [(0, 0), (1, 0), (20, 0), (40, 1), (80, 2), (20_480, 9.965784), (20_000, 9.965784), (10**9, 9.965784)],
    )
    def test_a_doubling_of_size_is_worth_theta(self, size: int, doublings: float) -> None:
        key = scheduling.dispatch_key(DUE, size, THETA)
        assert (key - DUE).total_seconds() == pytest.approx(doublings * THETA, rel=1e-6)

    def test_an_unknown_size_adds_nothing(self) -> None:
        assert scheduling.dispatch_key(DUE, None, THETA) == DUE

    def test_without_theta_it_is_first_in_first_out(self) -> None:
        assert scheduling.dispatch_key(DUE, 20_000, 0) == DUE

    @given(one=st.integers(0, 10**6), other=st.integers(0, 10**6))
    def test_a_larger_account_is_never_preferred(self, one: int, other: int) -> None:
        small, large = sorted([one, other])
        assert scheduling.dispatch_key(DUE, small, THETA) <= scheduling.dispatch_key(DUE, large, THETA)

    @given(size=st.integers(0, 10**6))
    def test_nobody_is_put_back_by_more_than_ten_theta(self, size: int) -> None:
        assert 0 <= scheduling.penalty_seconds(size, THETA) <= 10 * THETA


class TestSizeClass:
    @pytest.mark.parametrize(
        ("size", "yields", "expected"),
        [
            (None, True, SizeClass.PROBE),
            (None, False, SizeClass.PROBE),
            (0, True, SizeClass.SMALL),
            (2000, True, SizeClass.SMALL),
            (2001, True, SizeClass.LARGE),
            (2001, False, SizeClass.SMALL),
            (5000, False, SizeClass.SMALL),
            (5001, False, SizeClass.LARGE),
        ],
    )
    def test_it_depends_on_whether_the_marketplace_yields(
        self, size: int | None, yields: bool, expected: SizeClass
    ) -> None:
        assert scheduling.size_class(size, yields) is expected


class TestQuota:
    @pytest.mark.parametrize(
        ("per_server", "servers", "expected"),
        [
            ("1.00", 0, 1),
            ("1.00", 3, 3),
            ("0.50", 1, 1),
            ("0.50", 3, 2),
            ("0.50", 4, 2),
            ("0.10", 30, 3),
            ("0.10", 31, 4),
            ("0.01", 1, 1),
            ("2.00", 3, 6),
        ],
    )
    def test_it_follows_the_active_servers_and_is_never_none(
        self, per_server: str, servers: int, expected: int
    ) -> None:
        assert scheduling.quota(Decimal(per_server), servers) == expected

    @pytest.mark.parametrize(
        ("quota", "cap"), [(1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (6, 4), (10, 8), (11, 8), (100, 80)]
    )
    def test_a_fifth_is_kept_free_of_large_tasks(self, quota: int, cap: int) -> None:
        assert scheduling.large_cap(quota) == cap

    @given(quota=st.integers(2, 10_000))
    def test_the_reserve_is_at_least_one_and_at_least_a_fifth(self, quota: int) -> None:
        cap = scheduling.large_cap(quota)
        assert 1 <= cap < quota
        assert 5 * (quota - cap) >= quota


class TestWaits:
    @pytest.mark.parametrize(
        ("attempts", "ceiling"), [(1, 30), (2, 60), (3, 120), (7, 1920), (8, 3600), (9, 3600), (10_000, 3600)]
    )
    def test_a_retry_waits_longer_each_time_up_to_the_cap(self, attempts: int, ceiling: float) -> None:
        assert scheduling.backoff_ceiling_seconds(attempts, 30, 3600) == ceiling
        assert scheduling.backoff_seconds(attempts, 30, 3600, 0.0) == 0
        assert scheduling.backoff_seconds(attempts, 30, 3600, 0.5) == ceiling / 2

    @pytest.mark.parametrize(
        ("failures", "seconds"), [(1, 3600), (2, 7200), (5, 57_600), (6, 86_400), (65_535, 86_400)]
    )
    def test_a_cool_down_doubles_up_to_the_refresh_interval(self, failures: int, seconds: float) -> None:
        assert scheduling.cooldown_seconds(failures, 3600, DAY) == seconds

    def test_a_cool_down_is_never_longer_than_the_refresh_interval(self) -> None:
        assert scheduling.cooldown_seconds(1, 3600, 600) == 600


class Job(NamedTuple):
    """An account's crawl: when it is due, how large it is, how long it takes once it runs."""

    due: float
    size: int
    service: float


JOBS = st.lists(
    st.builds(Job, st.floats(0, 5 * DAY), st.integers(20, 20_000), st.floats(1, 4 * 3600)), min_size=1, max_size=40
)


@settings(max_examples=200, deadline=None)
@given(jobs=JOBS, slots=st.integers(1, 6))
def test_nobody_waits_longer_than_its_penalty_and_its_share_of_the_others_work(jobs: list[Job], slots: int) -> None:
    """The aging protection: W <= p + (1/c) * sum of the other accounts' service times."""
    others = sum(job.service for job in jobs)
    for job, start in zip(jobs, starts(jobs, slots), strict=True):
        bound = scheduling.penalty_seconds(job.size, THETA) + (others - job.service) / slots
        assert start - job.due <= bound + 1, f"{job} waited {start - job.due:.0f} s, the bound is {bound:.0f} s"


def test_without_aging_the_bound_would_not_hold() -> None:
    """Smallest first, for ever: the large one waits for all that come later. So the test above can fail."""
    large = Job(0, 20_000, 100)
    stream = [Job(n * 100.0, 20, 100) for n in range(2000)]
    begun = starts([large, *stream], 1, key=lambda job: float(job.size))[0]
    assert begun > scheduling.penalty_seconds(large.size, THETA)


def starts(jobs: list[Job], slots: int, key: Callable[[Job], float] | None = None) -> list[float]:
    """When each job begins if a free slot always takes the due job with the smallest key."""
    order = key or _dispatch_key
    arriving = sorted(range(len(jobs)), key=lambda n: jobs[n].due)
    free, waiting, begun, position = [0.0] * slots, list[tuple[float, int]](), [0.0] * len(jobs), 0
    while position < len(arriving) or waiting:
        now = free[0]
        if not waiting:
            now = max(now, jobs[arriving[position]].due)
        while position < len(arriving) and jobs[arriving[position]].due <= now:
            heapq.heappush(waiting, (order(jobs[arriving[position]]), arriving[position]))
            position += 1
        _, chosen = heapq.heappop(waiting)
        begun[chosen] = now
        heapq.heapreplace(free, now + jobs[chosen].service)
    return begun


def _dispatch_key(job: Job) -> float:
    key = scheduling.dispatch_key(DUE + timedelta(seconds=job.due), job.size, THETA)
    return (key - DUE).total_seconds()
