"""Section 2: one leader at most, by a lease that ends, fenced by a token that only grows."""

from __future__ import annotations

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import (
    FAILOVER,
    FENCED,
    HYBRID,
    LEASE_SECONDS,
    LEASED,
    NO_SPLIT_BRAIN,
    ONE_LEADER,
)
from tests.integration.seed import Seed
from tests.integration.waits import together


@proves(ONE_LEADER)
def test_of_many_that_campaign_at_once_one_is_elected(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    daemons = [daemon_of(f"server-{number}") for number in range(8)]
    answers = together(*(daemon.campaign for daemon in daemons))
    assert sum(answer.document["elected"] for answer in answers) == 1
    assert len({answer.document["leader_server_id"] for answer in answers if answer.document["elected"]}) == 1
    assert seed.count("leadership_terms") == 1


@proves(HYBRID)
def test_the_server_that_leads_also_crawls(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    account_id = seed.account("bazaar", size=100)
    daemon = daemon_of("server-1", "bazaar")
    token = daemon.lead()
    candidate = daemon.candidates()["candidates"][0]
    planned = {
        "account_id": account_id,
        "due_at": candidate["due_at"],
        "size": 100,
        "size_class": "small",
        "dispatch_key": candidate["due_at"],
    }
    assert daemon.plan(token, [planned]).document == {"created": 1, "skipped": 0}
    held = daemon.take()
    assert daemon.flush(held, 1, ["a"]).status == 201
    assert daemon.renew(token).status == 200


@proves(LEASED)
def test_a_lease_that_was_not_renewed_is_over(daemon_of: Daemons, clock: Clock) -> None:
    daemon = daemon_of("server-1")
    token = daemon.lead()
    clock.advance(seconds=15, microseconds=-1)
    assert daemon.keep_house(token).status == 200
    clock.advance(microseconds=1)
    assert refusal(daemon.keep_house(token)) == (409, "lease_expired")
    assert refusal(daemon.renew(token)) == (409, "lease_expired")


@proves(LEASE_SECONDS)
def test_the_lease_is_15_seconds_and_heartbeats_of_5_keep_it(daemon_of: Daemons, clock: Clock) -> None:
    daemon = daemon_of("server-1")
    answer = daemon.campaign()
    assert answer.document["lease_remaining_seconds"] == 15
    policy = daemon.client.get("/policy").document["policy"]
    assert (policy["leader_lease_seconds"], policy["leader_heartbeat_seconds"]) == (15, 5)
    for _ in range(10):
        clock.advance(seconds=5)
        assert daemon.renew(answer.document["fencing_token"]).document["lease_remaining_seconds"] == 15


@proves(FENCED)
def test_every_election_adds_one(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    daemons = [daemon_of("server-1"), daemon_of("server-2")]
    tokens = []
    for election in range(6):
        daemon = daemons[election % 2]
        tokens.append(daemon.lead())
        assert daemon.resign(tokens[-1]).status == 200
    assert tokens == [1, 2, 3, 4, 5, 6]
    assert [row["fencing_token"] for row in seed.rows("SELECT * FROM leadership_terms ORDER BY elected_at")] == tokens


@proves(LEASE_SECONDS)
def test_renewing_is_no_election(daemon_of: Daemons, clock: Clock) -> None:
    daemon = daemon_of("server-1")
    token = daemon.lead()
    clock.advance(seconds=5)
    again = daemon.campaign().document
    assert (again["elected"], again["fencing_token"], again["lease_remaining_seconds"]) == (True, token, 15)


@proves(FENCED)
def test_every_call_of_a_former_leader_is_refused(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    account_id = seed.account("bazaar", size=100)
    former, leader = daemon_of("server-1", "bazaar"), daemon_of("server-2", "bazaar")
    old = former.lead()
    clock.advance(seconds=120)
    leader.lead()
    due_at = clock.now.isoformat() + "Z"
    task = {
        "account_id": account_id,
        "due_at": due_at,
        "size": 100,
        "size_class": "small",
        "dispatch_key": due_at,
    }
    for answer in (former.plan(old, [task]), former.renew(old), former.keep_house(old), former.resign(old)):
        assert refusal(answer) == (409, "stale_fencing_token")
    assert seed.count("crawl_tasks") == seed.count("plans") == 0


@proves(FAILOVER)
def test_another_server_leads_after_120_seconds_and_not_before(daemon_of: Daemons, clock: Clock) -> None:
    former, other = daemon_of("server-1"), daemon_of("server-2")
    token = former.lead()
    clock.advance(seconds=5)
    former.renew(token)
    clock.advance(seconds=120, microseconds=-1)
    told = other.campaign().document
    assert (told["elected"], told["leader_server_id"]) == (False, "server-1")
    assert told["eligible_at"] is not None
    clock.advance(microseconds=1)
    assert other.campaign().document["fencing_token"] == token + 1


@proves(NO_SPLIT_BRAIN)
def test_a_leader_that_wakes_writes_nothing(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    stalled, other = daemon_of("server-1"), daemon_of("server-2")
    token = stalled.lead()
    clock.advance(seconds=300)
    assert refusal(stalled.keep_house(token)) == (409, "lease_expired")
    other.lead()
    assert refusal(stalled.keep_house(token)) == (409, "stale_fencing_token")
    assert not stalled.campaign().document["elected"]
    assert seed.row("leadership", leadership_id=1)["leader_server_id"] == "server-2"


@proves(FAILOVER)
def test_a_leader_that_resigns_is_followed_at_once(daemon_of: Daemons, clock: Clock) -> None:
    former, other = daemon_of("server-1"), daemon_of("server-2")
    former.resign(former.lead())
    assert other.lead() == 2
    assert other.deregister().status == 204
    assert former.lead() == 3
