"""Leadership: who is elected when, to the microsecond; what a stale or late leader may no longer do."""

from __future__ import annotations

import itertools
import uuid

import pytest

from shared.problems import (
    BootSuperseded,
    LeaseExpired,
    Problem,
    ServerDraining,
    ServerNotRegistered,
    StaleFencingToken,
)
from tests.integration.clock import START, Clock
from tests.integration.coordinator.commanding import Chief, Commanding
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed


@pytest.fixture
def chief(commanding: Commanding, clock: Clock, seed: Seed) -> Chief:
    """A server that was elected just now."""
    return commanding.elect("server-a", seed.server("server-a"))


@pytest.fixture
def rival(seed: Seed, clock: Clock) -> tuple[str, uuid.UUID]:
    """Another server, to be spread into `campaign`."""
    return "server-b", seed.server("server-b")


class TestElection:
    def test_the_first_to_ask_leads(self, commanding: Commanding, clock: Clock, seed: Seed) -> None:
        boot_id = seed.server("server-a")
        answer = commanding.campaign("server-a", boot_id)
        assert (answer.elected, answer.fencing_token, answer.lease_remaining_seconds) == (True, 1, 15)
        assert (answer.leader_server_id, answer.eligible_at) == ("server-a", START + seconds(120))
        row = seed.row("leadership")
        assert (row["renewed_at"], row["lease_expires_at"]) == (START, START + seconds(15))
        term = seed.row("leadership_terms")
        assert (term["fencing_token"], term["server_id"], term["boot_id"]) == (1, "server-a", boot_id.bytes)
        assert (term["elected_at"], term["ended_at"], term["end_reason"]) == (START, None, None)
        assert seed.row("task_events", kind="elected")["fencing_token"] == 1

    def test_another_waits_for_the_failover_threshold(
        self, commanding: Commanding, clock: Clock, chief: Chief, rival: tuple[str, uuid.UUID], seed: Seed
    ) -> None:
        clock.advance(seconds="119.999999")
        answer = commanding.campaign(*rival)
        assert (answer.elected, answer.fencing_token, answer.leader_server_id) == (False, 1, "server-a")
        assert (answer.lease_remaining_seconds, answer.eligible_at) == (0, START + seconds(120))
        clock.advance(microseconds=1)
        answer = commanding.campaign(*rival)
        assert (answer.elected, answer.fencing_token, answer.leader_server_id) == (True, 2, "server-b")
        ended = seed.row("leadership_terms", fencing_token=1)
        assert (ended["ended_at"], ended["end_reason"]) == (START + seconds(15), "superseded")
        assert seed.row("leadership_terms", fencing_token=2)["elected_at"] == START + seconds(120)

    def test_the_threshold_counts_from_the_last_renewal(
        self, commanding: Commanding, clock: Clock, chief: Chief, rival: tuple[str, uuid.UUID]
    ) -> None:
        clock.advance(seconds=10)
        commanding.renew(chief)
        clock.advance(seconds="119.999999")
        assert not commanding.campaign(*rival).elected
        clock.advance(microseconds=1)
        assert commanding.campaign(*rival).elected

    def test_a_lease_of_a_longer_policy_is_waited_for(
        self, commanding: Commanding, clock: Clock, seed: Seed, rival: tuple[str, uuid.UUID]
    ) -> None:
        generous = commanding.with_policy(leader_lease_seconds=200, failover_threshold_seconds=300)
        generous.elect("server-a", seed.server("server-a"))
        clock.advance(seconds="199.999999")
        answer = commanding.campaign(*rival)
        assert (answer.elected, answer.eligible_at) == (False, START + seconds(200))
        clock.advance(microseconds=1)
        assert commanding.campaign(*rival).elected

    def test_a_valid_incumbent_is_renewed_under_its_token(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds="14.999999")
        answer = commanding.campaign(chief.server_id, chief.boot_id)
        assert (answer.elected, answer.fencing_token, answer.lease_remaining_seconds) == (True, 1, 15)
        assert seed.row("leadership")["lease_expires_at"] == clock.now + seconds(15)
        assert seed.count("leadership_terms") == 1

    def test_its_own_ended_lease_a_boot_need_not_wait_for(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds=15)
        answer = commanding.campaign(chief.server_id, chief.boot_id)
        assert (answer.elected, answer.fencing_token) == (True, 2)
        assert seed.row("leadership_terms", fencing_token=1)["ended_at"] == START + seconds(15)

    def test_an_older_boot_of_its_server_a_boot_need_not_wait_for(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        fresh = uuid.uuid4()
        seed.update("servers", {"server_id": "server-a"}, boot_id=fresh)
        clock.advance(seconds=1)
        assert commanding.campaign("server-a", fresh).fencing_token == 2
        assert seed.row("leadership_terms", fencing_token=1)["ended_at"] == clock.now
        with pytest.raises(StaleFencingToken):
            commanding.renew(chief)

    def test_after_a_resignation_anybody_leads_at_once(
        self, commanding: Commanding, clock: Clock, chief: Chief, rival: tuple[str, uuid.UUID]
    ) -> None:
        commanding.resign(chief)
        assert commanding.campaign(*rival).fencing_token == 2

    def test_a_clock_that_was_set_back_leaves_terms_that_do_not_end_before_they_begin(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds=-60)
        seed.update("servers", {"server_id": "server-a"}, boot_id=(fresh := uuid.uuid4()))
        assert commanding.campaign("server-a", fresh).elected
        assert seed.row("leadership_terms", fencing_token=1)["ended_at"] == START

    def test_reading_tells_who_leads(self, commanding: Commanding, clock: Clock, chief: Chief) -> None:
        clock.advance(seconds=5)
        answer = commanding.read()
        assert (answer.elected, answer.fencing_token, answer.leader_server_id) == (False, 1, "server-a")
        assert (answer.lease_remaining_seconds, answer.eligible_at) == (10, START + seconds(120))

    def test_reading_before_the_first_election(self, commanding: Commanding, clock: Clock) -> None:
        answer = commanding.read()
        assert (answer.fencing_token, answer.leader_server_id, answer.eligible_at) == (0, None, None)


class TestWhoMayCampaign:
    """Judged whether or not there is anything to win."""

    @pytest.fixture(params=["nobody leads", "another leads"])
    def _leader(self, request: pytest.FixtureRequest, seed: Seed, clock: Clock) -> None:
        seed.server("server-c")
        if request.param == "another leads":
            seed.leader("server-c")

    @pytest.mark.usefixtures("_leader")
    def test_an_unknown_server_may_not(self, commanding: Commanding, seed: Seed) -> None:
        self.refused(commanding, seed, ServerNotRegistered, uuid.uuid4())

    @pytest.mark.usefixtures("_leader")
    def test_an_older_boot_may_not(self, commanding: Commanding, seed: Seed) -> None:
        seed.server("server-a")
        self.refused(commanding, seed, BootSuperseded, uuid.uuid4())

    @pytest.mark.usefixtures("_leader")
    def test_a_draining_server_may_not(self, commanding: Commanding, seed: Seed) -> None:
        self.refused(commanding, seed, ServerDraining, seed.server("server-a", draining=True))

    @pytest.mark.usefixtures("_leader")
    def test_a_server_that_has_left_may_not(self, commanding: Commanding, seed: Seed) -> None:
        self.refused(commanding, seed, ServerNotRegistered, seed.server("server-a", deregistered_at=START))

    @staticmethod
    def refused(commanding: Commanding, seed: Seed, problem: type[Problem], boot_id: uuid.UUID) -> None:
        before = seed.row("leadership")
        with pytest.raises(problem):
            commanding.campaign("server-a", boot_id)
        assert seed.row("leadership") == before


class TestHeartbeat:
    def test_it_extends_the_lease_to_its_last_microsecond(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds="14.999999")
        answer = commanding.renew(chief)
        assert (answer.elected, answer.fencing_token, answer.lease_remaining_seconds) == (True, 1, 15)
        row = seed.row("leadership")
        assert (row["renewed_at"], row["lease_expires_at"]) == (clock.now, clock.now + seconds(15))

    def test_an_ended_lease_is_not_revived(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds=15)
        with pytest.raises(LeaseExpired):
            commanding.renew(chief)
        assert seed.row("leadership")["lease_expires_at"] == START + seconds(15)

    @pytest.mark.parametrize("wrong", ["fencing_token", "boot_id", "server_id"])
    def test_only_the_leader_renews(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed, wrong: str
    ) -> None:
        clock.advance(seconds=1)
        other = impostor(chief, wrong)
        with pytest.raises(StaleFencingToken) as caught:
            commanding.renew(other)
        assert caught.value.members == {"fencing_token": 1}
        assert seed.row("leadership")["renewed_at"] == START


class TestResignation:
    def test_it_frees_the_leadership_and_ends_the_term(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds=3)
        answer = commanding.resign(chief)
        assert (answer.elected, answer.fencing_token, answer.leader_server_id) == (False, 1, None)
        row = seed.row("leadership")
        assert (row["fencing_token"], row["leader_server_id"], row["lease_expires_at"]) == (1, None, None)
        term = seed.row("leadership_terms")
        assert (term["ended_at"], term["end_reason"]) == (clock.now, "resigned")
        assert seed.row("task_events", kind="resigned")["server_id"] == "server-a"
        with pytest.raises(StaleFencingToken):
            commanding.renew(chief)

    def test_after_the_lease_the_term_ended_with_it(
        self, commanding: Commanding, clock: Clock, chief: Chief, seed: Seed
    ) -> None:
        clock.advance(seconds=40)
        commanding.resign(chief)
        assert seed.row("leadership_terms")["ended_at"] == START + seconds(15)

    @pytest.mark.parametrize("wrong", ["fencing_token", "boot_id", "server_id"])
    def test_nobody_resigns_for_another(self, commanding: Commanding, chief: Chief, seed: Seed, wrong: str) -> None:
        before = seed.row("leadership")
        with pytest.raises(StaleFencingToken):
            commanding.resign(impostor(chief, wrong))
        assert seed.row("leadership") == before


def test_tokens_only_grow_and_no_two_terms_overlap(commanding: Commanding, clock: Clock, seed: Seed) -> None:
    boots = {name: seed.server(name) for name in ("server-a", "server-b", "server-c")}
    for turn, name in enumerate(["server-a", "server-b", "server-a", "server-c", "server-b"], start=1):
        chief = commanding.elect(name, boots[name])
        assert chief.fencing_token == turn
        clock.advance(seconds=10)
        commanding.renew(chief)
        if turn % 2:
            commanding.resign(chief)
        else:
            clock.advance(seconds=120)
    terms = seed.rows("SELECT * FROM leadership_terms ORDER BY fencing_token")
    for earlier, later in itertools.pairwise(terms):
        assert earlier["ended_at"] is not None
        assert earlier["ended_at"] <= later["elected_at"], f"terms overlap: {earlier}, {later}"


def impostor(chief: Chief, wrong: str) -> Chief:
    """The chief's claim with one member that is not the chief's."""
    others = {"fencing_token": chief.fencing_token + 1, "boot_id": uuid.uuid4(), "server_id": "server-z"}
    return Chief(**{**vars(chief), wrong: others[wrong]})
