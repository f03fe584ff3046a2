"""Section 3: slots, one task per marketplace and server, quotas that follow the number of active servers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import CAPACITY, NINE_TO_TWELVE, P1, QUOTA, SLOTS
from tests.integration.seed import Seed
from tests.integration.waits import together

CODES = ("bazaar", "harbour", "meridian", "quayside", "agora")


@proves(SLOTS)
def test_a_fourth_task_is_not_given(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock) -> None:
    for code in CODES:
        waiting(code)
    daemon = daemon_of("server-1", *CODES)
    for _ in range(3):
        daemon.take()
    answer = daemon.acquire()
    assert (answer.status, answer.headers.get("Retry-After")) == (204, "1")


@proves(SLOTS)
def test_many_requests_at_once_get_no_more(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock) -> None:
    for code in CODES:
        waiting(code)
    daemon = daemon_of("server-1", *CODES)
    answers = together(*(lambda seq=seq: daemon.acquire(seq) for seq in range(1, 13)))
    given = {answer.document["task_id"] for answer in answers if answer.status == 200}
    assert 1 <= len(given) <= 3
    assert {answer.status for answer in answers} <= {200, 204, 409}


@proves(SLOTS)
def test_one_marketplace_runs_once_on_a_server(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock) -> None:
    for _ in range(3):
        waiting("bazaar")
    first, second = daemon_of("server-1", "bazaar"), daemon_of("server-2", "bazaar")
    first.take()
    assert first.acquire().status == 204
    assert second.take().grant["account"]["marketplace_code"] == "bazaar"


@pytest.mark.parametrize("servers", [3, 4])
@proves(NINE_TO_TWELVE)
def test_capacity_is_three_times_the_servers(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, servers: int
) -> None:
    for code in CODES:
        for _ in range(servers):
            waiting(code)
    daemons = [daemon_of(f"server-{number}", *CODES) for number in range(servers)]
    together(*(lambda daemon=daemon: [daemon.acquire() for _ in range(5)] for daemon in daemons))
    assert seed.count("crawl_tasks", state="running") == 3 * servers


@proves(QUOTA)
def test_a_quota_follows_the_servers(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed) -> None:
    seed.marketplace("bazaar", quota_per_server=0.5)
    for _ in range(6):
        waiting("bazaar")
    daemons = [daemon_of(f"server-{number}", "bazaar") for number in range(4)]
    answers = together(*(daemon.acquire for daemon in daemons))
    assert sorted(answer.status for answer in answers) == [200, 200, 204, 204]
    daemons += [daemon_of(f"server-{number}", "bazaar") for number in (4, 5)]
    assert [daemons[4].acquire().status, daemons[5].acquire().status] == [200, 204]


@proves(QUOTA)
def test_a_full_marketplace_leaves_the_slots_to_others(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    seed.marketplace("bazaar", quota_per_server=0.5)
    for _ in range(20):
        waiting("bazaar")
    waiting("harbour")
    first, second = daemon_of("server-1", "bazaar", "harbour"), daemon_of("server-2", "bazaar", "harbour")
    assert first.take().grant["account"]["marketplace_code"] == "bazaar"
    assert second.take().grant["account"]["marketplace_code"] == "harbour"
    assert second.acquire().status == 204


@proves(CAPACITY)
def test_a_silent_server_does_not_count(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    seed.marketplace("bazaar", quota_per_server=0.5)
    for _ in range(4):
        waiting("bazaar")
    alive = [daemon_of(f"server-{number}", "bazaar") for number in range(2)]
    daemon_of("silent-1", "bazaar")
    daemon_of("silent-2", "bazaar")
    clock.advance(seconds=120)
    for daemon in alive:
        daemon.show_life()
    assert [daemon.acquire().status for daemon in alive] == [200, 204]


@proves(P1)
def test_a_server_gets_only_what_it_can_crawl(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting("bazaar")
    seed.marketplace("harbour")
    incapable = daemon_of("server-1", "harbour")
    assert incapable.acquire().status == 204
    unknown = incapable.register("atlantis")
    assert refusal(unknown)[0] in (409, 422), unknown.document
    assert "atlantis" in unknown.body.decode()
