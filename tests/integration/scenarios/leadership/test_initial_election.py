"""Twenty servers campaign at once, over two coordinators, whenever nobody leads: one of them is elected, always."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import pytest

from tests.evidence import Evidence
from tests.integration.clock import Clock
from tests.integration.scenarios.depth import rounds
from tests.integration.scenarios.leadership.candidate import Candidate
from tests.integration.scenarios.leadership.conftest import Crowds
from tests.integration.scenarios.leadership.crowding import Crowding, Meet
from tests.integration.scenarios.leadership.election import campaigns, leads, nobody_elected, the_one_elected
from tests.integration.seed import Seed

pytestmark = [pytest.mark.scenario("initial election", "I1"), pytest.mark.race]

CROWD = 20


@pytest.fixture
def crowd(crowd_of: Crowds, clock: Clock) -> list[Candidate]:
    """Twenty registered servers."""
    return crowd_of(CROWD)


@pytest.fixture(params=["at_once", "at_the_lock"])
def meet(request: pytest.FixtureRequest, crowding: Crowding) -> Meet:
    """How the campaigns meet."""
    meet: Meet = getattr(crowding, request.param)
    return meet


def test_when_nobody_ever_led(
    crowd: list[Candidate],
    meet: Meet,
    seed: Seed,
    evidence: Evidence,
) -> None:
    for _ in range(rounds(15, 100)):
        forget(seed)
        leader = the_one_elected(meet(campaigns(crowd)), crowd, 1)
        leads(seed, leader, 1)
        assert seed.count("leadership_terms") == 1
        evidence.ran()


@pytest.mark.parametrize("end", ["resigned", "deregistered", "superseded"])
def test_when_a_term_is_over(
    crowd: list[Candidate],
    meet: Meet,
    seed: Seed,
    clock: Clock,
    end: str,
    evidence: Evidence,
) -> None:
    leader, token = crowd[0], crowd[0].lead()
    for _ in range(rounds(8, 50)):
        crowd = ended(end, leader, token, crowd, clock)
        token += 1
        leader = the_one_elected(meet(campaigns(crowd)), crowd, token)
        leads(seed, leader, token)
        former = seed.row("leadership_terms", fencing_token=token - 1)
        assert (former["end_reason"], seed.count("leadership_terms")) == (end, token)
        evidence.ran()


def test_when_the_lease_has_just_ended_only_its_holder_is_elected(
    crowd: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    """Until the failover threshold has passed, its own is all that a server may take."""
    leader, token = crowd[7], crowd[7].lead()
    others = [candidate for candidate in crowd if candidate is not leader]
    for _ in range(rounds(15, 100)):
        clock.advance(seconds=15)
        answers = crowding.at_once([candidate.ready("campaign") for candidate in [leader, *others]])
        own, theirs = answers[0].document, [answer.document for answer in answers[1:]]
        assert (own["elected"], own["fencing_token"]) == (True, token + 1)
        assert {(answer["elected"], answer["leader_server_id"]) for answer in theirs} == {(False, leader.server_id)}
        token += 1
        leads(seed, leader, token)
        evidence.ran()


def test_while_the_lease_runs_nobody_is(
    crowd: list[Candidate], crowding: Crowding, seed: Seed, clock: Clock, evidence: Evidence
) -> None:
    leader, token = crowd[0], crowd[0].lead()
    for _ in range(rounds(10, 60)):
        clock.advance(seconds=14)
        renewal, *answers = crowding.at_once([leader.ready("renew", token), *campaigns(crowd[1:])])
        assert renewal.document["elected"]
        nobody_elected(answers, leader, token)
        leads(seed, leader, token)
        evidence.ran()


def forget(seed: Seed) -> None:
    """As if nobody had ever led."""
    seed.update(
        "leadership",
        {"leadership_id": 1},
        fencing_token=0,
        leader_server_id=None,
        leader_boot_id=None,
        renewed_at=None,
        lease_expires_at=None,
    )
    seed.execute("DELETE FROM leadership_terms")


def ended(end: str, leader: Candidate, token: int, crowd: Sequence[Candidate], clock: Clock) -> list[Candidate]:
    """The crowd after the leader's term is over; who deregistered is back under a new boot."""
    if end == "resigned":
        assert leader.ready("resign", token)().status == 200
    elif end == "superseded":
        clock.advance(seconds=120)
    else:
        assert leader.deregister().status == 204
        back = leader.with_boot(str(uuid.uuid4()))
        assert back.register().status == 200
        return [back if candidate is leader else candidate for candidate in crowd]
    return list(crowd)
