"""When another server may lead, to the microsecond of a moved clock, with many contenders at each boundary.

The clock is the database's, the same for both coordinators (I11); no instant is read in the test's process.
"""

from __future__ import annotations

import uuid

import pytest

from tests.evidence import Evidence
from tests.integration.clock import Clock
from tests.integration.scenarios.depth import rounds
from tests.integration.scenarios.leadership.candidate import Candidate
from tests.integration.scenarios.leadership.conftest import Crowds
from tests.integration.scenarios.leadership.crowding import Crowding
from tests.integration.scenarios.leadership.election import (
    campaigns,
    leads,
    nobody_elected,
    refused,
    the_one_elected,
)
from tests.integration.scenarios.leadership.policing import SetPolicy
from tests.integration.seed import Seed

pytestmark = [pytest.mark.scenario("failover boundaries", "I1 I11"), pytest.mark.race]

ROUNDS = rounds(6, 50)
RIVALS = 10


@pytest.fixture
def leader(crowd_of: Crowds, clock: Clock) -> Candidate:
    """Whoever is to lead first."""
    return crowd_of(1)[0]


@pytest.fixture
def rivals(crowd_of: Crowds, leader: Candidate) -> list[Candidate]:
    """Servers that want to lead."""
    return crowd_of(RIVALS)


def test_nobody_before_the_threshold_and_one_at_it(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    """It counts from the last renewal, not from the election."""
    token = 0
    for _ in range(ROUNDS):
        token += 1
        assert leader.lead() == token
        clock.advance(seconds=5)
        assert leader.ready("renew", token)().status == 200
        clock.advance(seconds=120, microseconds=-1)
        nobody_elected(crowding.at_once(campaigns(rivals)), leader, token)
        clock.advance(microseconds=1)
        successor = the_one_elected(crowding.at_once(campaigns(rivals)), rivals, token + 1)
        leads(seed, successor, token + 1)
        clock.advance(microseconds=1)
        token += 1
        others = [rival for rival in [leader, *rivals] if rival is not successor]
        nobody_elected(crowding.at_once(campaigns(others)), successor, token)
        assert successor.ready("resign", token)().status == 200
        evidence.ran(3)


def test_one_just_after_the_threshold(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    holder, token = leader, leader.lead()
    for _ in range(ROUNDS):
        clock.advance(seconds=120, microseconds=1)
        waiting = [rival for rival in [leader, *rivals] if rival is not holder]
        token += 1
        holder = the_one_elected(crowding.at_once(campaigns(waiting)), waiting, token)
        leads(seed, holder, token)
        evidence.ran()


def test_a_lease_is_kept_until_its_last_microsecond_and_not_at_its_end(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    token = leader.lead()
    for _ in range(ROUNDS):
        clock.advance(seconds=15, microseconds=-1)
        renewals = [leader.ready("renew", token), leader.ready("renew", token), leader.ready("campaign")]
        answers = crowding.at_once([*renewals, *campaigns(rivals)])
        assert [answer.document["fencing_token"] for answer in answers[:3]] == [token] * 3
        assert all(answer.document["elected"] for answer in answers[:3])
        nobody_elected(answers[3:], leader, token)
        for late in (0, 1):
            clock.advance(seconds=15, microseconds=late)
            renewals = [leader.ready(verb, token) for verb in ("renew", "keep_house") * 2]
            answers = crowding.at_once([*renewals, *campaigns(rivals)])
            assert refused(answers[:4]) == {(409, "lease_expired")}
            nobody_elected(answers[4:], leader, token)
            token = leader.lead()
            leads(seed, leader, token)
        evidence.ran(3)


def test_its_own_lease_that_has_ended_is_taken_anew_at_once(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    """Campaigns of one boot at the same moment are one election: the first is elected, the others renew it."""
    token = leader.lead()
    for number in range(ROUNDS):
        clock.advance(seconds=15, microseconds=number % 2)
        answers = crowding.at_once([*campaigns([leader] * 4), *campaigns(rivals)])
        own = [(answer.document["elected"], answer.document["fencing_token"]) for answer in answers[:4]]
        assert own == [(True, token + 1)] * 4
        assert not any(answer.document["elected"] for answer in answers[4:])
        token += 1
        leads(seed, leader, token)
        assert seed.count("leadership_terms") == token
        evidence.ran()


def test_an_older_boot_of_its_own_is_followed_at_once(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    """While the old boot's lease runs, and with the old boot still writing."""
    token = leader.lead()
    for _ in range(ROUNDS):
        restarted = leader.with_boot(str(uuid.uuid4()))
        assert restarted.register().status == 200
        calls = [restarted.ready("campaign"), leader.ready("campaign"), leader.ready("renew", token)]
        elected, zombie, renewal, *others = crowding.at_once([*calls, *campaigns(rivals)])
        assert (elected.document["elected"], elected.document["fencing_token"]) == (True, token + 1)
        assert refused([zombie]) == {(409, "boot_superseded")}
        assert renewal.status == 200 or refused([renewal]) == {(409, "stale_fencing_token")}
        assert not any(answer.document["elected"] for answer in others)
        assert refused([leader.ready("renew", token)()]) == {(409, "stale_fencing_token")}
        token += 1
        leads(seed, restarted, token)
        leader = restarted
        evidence.ran()


def test_a_resignation_makes_all_eligible_at_once(
    leader: Candidate, rivals: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    """Those who ask while it resigns are told of the old leader or of the new one; afterwards one of them leads."""
    crowd, holder, token = [leader, *rivals], leader, leader.lead()
    for _ in range(ROUNDS):
        others = [candidate for candidate in crowd if candidate is not holder]
        gone, *meanwhile = crowding.at_once([holder.ready("resign", token), *campaigns(others)])
        assert gone.status == 200
        early = [candidate for candidate, answer in zip(others, meanwhile, strict=True) if answer.document["elected"]]
        assert len(early) <= 1
        answers = crowding.at_once(campaigns(others))
        token += 1
        holder = the_one_elected(answers, others, token)
        assert early in ([], [holder]), "an election was followed by another while its lease ran"
        leads(seed, holder, token)
        assert seed.row("leadership_terms", fencing_token=token - 1)["end_reason"] == "resigned"
        evidence.ran()


def test_a_lease_granted_under_a_longer_policy_is_waited_for(
    leader: Candidate,
    rivals: list[Candidate],
    crowding: Crowding,
    seed: Seed,
    clock: Clock,
    set_policy: SetPolicy,
    evidence: Evidence,
) -> None:
    token = 0
    for _ in range(ROUNDS):
        set_policy(leader_lease_seconds=200, failover_threshold_seconds=300)
        token += 1
        assert leader.lead() == token
        set_policy(leader_lease_seconds=15, failover_threshold_seconds=120)
        for step in (120, 79.999999):
            clock.advance(seconds=step)
            nobody_elected(crowding.at_once(campaigns(rivals)), leader, token)
        assert leader.ready("keep_house", token)().status == 200
        clock.advance(microseconds=1)
        token += 1
        successor = the_one_elected(crowding.at_once(campaigns(rivals)), rivals, token)
        leads(seed, successor, token)
        assert successor.ready("resign", token)().status == 200
        evidence.ran(3)


def test_a_longer_threshold_holds_for_leases_that_there_are(
    leader: Candidate,
    rivals: list[Candidate],
    crowding: Crowding,
    seed: Seed,
    clock: Clock,
    set_policy: SetPolicy,
    evidence: Evidence,
) -> None:
    token = 0
    for _ in range(ROUNDS):
        set_policy(failover_threshold_seconds=120)
        token += 1
        assert leader.lead() == token
        set_policy(failover_threshold_seconds=180)
        clock.advance(seconds=180, microseconds=-1)
        nobody_elected(crowding.at_once(campaigns(rivals)), leader, token)
        clock.advance(microseconds=1)
        token += 1
        successor = the_one_elected(crowding.at_once(campaigns(rivals)), rivals, token)
        leads(seed, successor, token)
        assert successor.ready("resign", token)().status == 200
        evidence.ran(2)
