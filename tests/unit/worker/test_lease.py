"""A lease is believed a second less than it was granted, counted from before it was asked for."""

from __future__ import annotations

from tests.unit.worker.granting import Clock
from worker.lease import MARGIN_SECONDS, Lease


def test_it_is_not_held_before_it_was_granted() -> None:
    assert not Lease(Clock()).held


def test_it_is_given_up_a_second_before_the_coordinator_would() -> None:
    clock = Clock()
    lease = Lease(clock)
    lease.renew(sent_at=995.0, remaining_seconds=15.0)
    clock.now = 995.0 + 15.0 - MARGIN_SECONDS - 0.000001
    assert lease.held
    clock.now = 995.0 + 15.0 - MARGIN_SECONDS
    assert not lease.held
    assert lease.remaining_seconds == 0.0


def test_an_answer_that_comes_late_never_shortens_it() -> None:
    clock = Clock()
    lease = Lease(clock)
    lease.renew(sent_at=1000.0, remaining_seconds=60.0)
    lease.renew(sent_at=980.0, remaining_seconds=60.0)
    assert lease.remaining_seconds == 60.0 - MARGIN_SECONDS


def test_a_shorter_lease_of_a_later_request_is_what_counts() -> None:
    clock = Clock()
    lease = Lease(clock)
    lease.renew(sent_at=1000.0, remaining_seconds=60.0)
    lease.renew(sent_at=1000.5, remaining_seconds=6.0)
    lease.renew(sent_at=999.0, remaining_seconds=60.0)
    assert lease.remaining_seconds == 6.5 - MARGIN_SECONDS


def test_once_lost_it_stays_lost() -> None:
    clock = Clock()
    lease = Lease(clock)
    lease.renew(1000.0, 60.0)
    lease.lose()
    lease.renew(1000.0, 60.0)
    assert not lease.held
