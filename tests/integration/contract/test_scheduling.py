"""Section 6: small and new accounts stay fresh although catalogues of 20,000 wait too, and nobody waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from shared.scheduling import dispatch_key, theta_seconds
from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves
from tests.integration.contract.sentences import COLD_START, LARGEST, SIZE_AWARE
from tests.integration.seed import Seed

LARGE, SMALL = 20_000, 20
THETA = theta_seconds(86_400)


@proves(SIZE_AWARE)
def test_of_two_that_are_due_the_smaller_runs_first(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    now = clock.now
    waiting(size=LARGE, size_class="large", dispatch_key=dispatch_key(now, LARGE, THETA))
    small = waiting(size=SMALL, dispatch_key=dispatch_key(now, SMALL, THETA))
    assert daemon_of("server-1", "bazaar").take().task_id == small


@proves(SIZE_AWARE)
def test_a_large_account_that_waited_long_runs_before_small_new_ones(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    now = clock.now
    aged = waiting(size=LARGE, dispatch_key=dispatch_key(now - timedelta(hours=24), LARGE, THETA), size_class="large")
    waiting(size=SMALL, dispatch_key=dispatch_key(now, SMALL, THETA))
    assert daemon_of("server-1", "bazaar").take().task_id == aged


@proves(COLD_START)
def test_an_unknown_account_runs_as_a_probe_without_a_penalty(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    now = clock.now
    waiting(size=2_000, dispatch_key=dispatch_key(now, 2_000, THETA))
    unknown = waiting(size=None, dispatch_key=dispatch_key(now, None, THETA))
    grant = daemon_of("server-1", "bazaar").take().grant
    assert (grant["task_id"], grant["size_class"], grant["account"]["size"]) == (unknown, "probe", None)


@proves(COLD_START)
def test_the_first_crawl_teaches_the_size(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting(size=None)
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, [f"ref-{number}" for number in range(37)])
    daemon.complete(held, 1, 37)
    account = seed.row("accounts", account_id=held.grant["account"]["account_id"])
    assert (account["size"], account["next_due_at"]) == (37, clock.now + timedelta(days=1))


@proves(LARGEST)
def test_large_accounts_leave_a_place_of_the_quota_to_others(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    seed.marketplace("bazaar", yields=False)
    for _ in range(5):
        waiting(size=LARGE, size_class="large")
    later = clock.now + timedelta(hours=1)
    small = waiting(size=SMALL, dispatch_key=later)
    daemons = [daemon_of(f"server-{number}", "bazaar") for number in range(3)]
    taken = [daemon.take() for daemon in daemons]
    assert [held.grant["size_class"] for held in taken] == ["large", "large", "small"]
    assert taken[-1].task_id == small
