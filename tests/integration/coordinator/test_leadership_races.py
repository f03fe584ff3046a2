"""Leadership under contention: who waits for whom, what is judged again after the wait, and by which clock.

The tests on the real clock hold the leadership row across an instant that matters: a clock that was read before the
wait would judge wrongly.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import replace
from threading import Event
from typing import TypeVar

import pytest

from coordinator import leadership
from coordinator.connections import DatabaseSettings
from coordinator.database import Database, Transaction
from shared.problems import BootSuperseded, LeaseExpired, ServerDraining
from tests.integration.clock import START, Clock
from tests.integration.coordinator.commanding import Commanding
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, together, until_lock_waits, until_passed

LOCK = "SELECT * FROM leadership FOR UPDATE"
LOCK_SERVER = "SELECT * FROM servers WHERE server_id = 'server-a' FOR UPDATE"
DEADLINE_SECONDS = 10

T = TypeVar("T")


@pytest.fixture
def brief(commanding: Commanding) -> Commanding:
    """A lease that ends within a test on the real clock."""
    return commanding.with_policy(leader_lease_seconds=0.5, failover_threshold_seconds=1.0)


class TestJudgedAgainUnderTheLock:
    def test_whoever_is_not_eligible_waits_for_nobody(
        self, commanding: Commanding, clock: Clock, seed: Seed, holder: Connection
    ) -> None:
        boot_id = seed.server("server-b")
        seed.server("server-a")
        seed.leader("server-a")
        with held(holder, LOCK):
            answer = in_thread(lambda: commanding.campaign("server-b", boot_id)).result(DEADLINE_SECONDS)
            assert not answer.elected
            assert in_thread(commanding.read).result(DEADLINE_SECONDS).leader_server_id == "server-a"

    def test_who_was_faster_is_seen(
        self, commanding: Commanding, clock: Clock, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        boot_id, faster = seed.server("server-b"), seed.server("server-a")
        with held(holder, LOCK) as connection:
            answer = in_thread(lambda: commanding.campaign("server-b", boot_id))
            until_lock_waits(watcher)
            with connection.cursor() as cursor:
                cursor.execute(
                    "UPDATE leadership SET fencing_token = 1, leader_server_id = 'server-a', leader_boot_id = %s,"
                    " renewed_at = %s, lease_expires_at = %s",
                    (faster.bytes, START, START + seconds(15)),
                )
        assert not answer.result(DEADLINE_SECONDS).elected
        assert seed.row("leadership")["leader_server_id"] == "server-a"

    @pytest.mark.parametrize(
        ("change", "problem"),
        [("boot_id = REPEAT('x', 16)", BootSuperseded), ("draining = TRUE", ServerDraining)],
    )
    def test_a_server_that_changed_meanwhile_is_refused(
        self,
        commanding: Commanding,
        clock: Clock,
        seed: Seed,
        holder: Connection,
        watcher: Connection,
        change: str,
        problem: type[Exception],
    ) -> None:
        boot_id = seed.server("server-a")
        with held(holder, LOCK_SERVER) as connection:
            answer = in_thread(lambda: commanding.campaign("server-a", boot_id))
            until_lock_waits(watcher)
            with connection.cursor() as cursor:
                cursor.execute(f"UPDATE servers SET {change} WHERE server_id = 'server-a'")
        with pytest.raises(problem):
            answer.result(DEADLINE_SECONDS)
        assert seed.row("leadership")["leader_server_id"] is None

    def test_a_candidate_that_waits_for_the_leadership_holds_no_server(
        self, commanding: Commanding, clock: Clock, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        boot_id = seed.server("server-a")
        with held(holder, LOCK):
            answer = in_thread(lambda: commanding.campaign("server-a", boot_id))
            until_lock_waits(watcher)
            in_thread(lambda: commanding.heartbeat("server-a", boot_id)).result(DEADLINE_SECONDS)
        assert answer.result(DEADLINE_SECONDS).elected
        assert commanding.database.retries == {}, "one of them waited for the other"


class TestLeadersWrites:
    """I2: no election commits between the check of a leader's write and its commit."""

    @pytest.fixture
    def writing(self, database: Database, commanding: Commanding, clock: Clock, seed: Seed) -> Iterator[Event]:
        """A leader's write that has been checked and commits when the event is set."""
        chief = commanding.elect("server-a", seed.server("server-a"))
        checked, proceed = Event(), Event()

        def write(tx: Transaction) -> None:
            leadership.assert_leader(tx, chief.server_id, chief.boot_id, chief.fencing_token)
            checked.set()
            assert proceed.wait(DEADLINE_SECONDS)

        written = in_thread(lambda: database.transaction(write))
        assert checked.wait(DEADLINE_SECONDS)
        yield proceed
        proceed.set()
        written.result(DEADLINE_SECONDS)

    def test_an_election_waits_for_it(
        self, commanding: Commanding, clock: Clock, seed: Seed, watcher: Connection, writing: Event
    ) -> None:
        boot_id = seed.server("server-b")
        clock.advance(seconds=120)
        election = in_thread(lambda: commanding.campaign("server-b", boot_id))
        until_lock_waits(watcher)
        assert not election.done()
        writing.set()
        assert election.result(DEADLINE_SECONDS).elected

    def test_another_of_the_leaders_writes_does_not(
        self, database: Database, seed: Seed, writing: Event, clock: Clock
    ) -> None:
        boot_id = uuid.UUID(bytes=seed.row("servers")["boot_id"])
        now = database.transaction(lambda tx: leadership.assert_leader(tx, "server-a", boot_id, 1))
        assert now == clock.now
        assert database.retries == {}, "it waited for the other"


class TestTheClockIsReadAfterTheWait:
    def test_a_campaign_that_waited_past_its_own_lease_gets_a_new_token(
        self, brief: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        chief = brief.elect("server-a", seed.server("server-a"))
        answer = self.across_the_expiry(
            lambda: brief.campaign(chief.server_id, chief.boot_id), seed, holder, watcher
        ).result(DEADLINE_SECONDS)
        assert (answer.elected, answer.fencing_token) == (True, 2)

    def test_a_heartbeat_that_waited_past_the_lease_does_not_revive_it(
        self, brief: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        chief = brief.elect("server-a", seed.server("server-a"))
        with pytest.raises(LeaseExpired):
            self.across_the_expiry(lambda: brief.renew(chief), seed, holder, watcher).result(DEADLINE_SECONDS)

    def test_a_resignation_that_waited_past_the_lease_ends_the_term_with_it(
        self, brief: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        chief = brief.elect("server-a", seed.server("server-a"))
        expires_at = seed.row("leadership")["lease_expires_at"]
        self.across_the_expiry(lambda: brief.resign(chief), seed, holder, watcher).result(DEADLINE_SECONDS)
        assert seed.row("leadership_terms")["ended_at"] == expires_at

    def test_a_leaders_write_that_waited_past_the_lease_is_refused(
        self, brief: Commanding, database: Database, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        chief = brief.elect("server-a", seed.server("server-a"))
        with pytest.raises(LeaseExpired):
            self.across_the_expiry(
                lambda: database.transaction(
                    lambda tx: leadership.assert_leader(tx, chief.server_id, chief.boot_id, chief.fencing_token)
                ),
                seed,
                holder,
                watcher,
            ).result(DEADLINE_SECONDS)

    @pytest.mark.parametrize("wait_for", [LOCK, LOCK_SERVER], ids=["leadership", "server"])
    def test_a_lease_counts_from_after_the_wait(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection, wait_for: str
    ) -> None:
        boot_id = seed.server("server-a")
        with held(holder, wait_for):
            answer = in_thread(lambda: commanding.campaign("server-a", boot_id))
            until_lock_waits(watcher)
            released = seed.now()
        assert answer.result(DEADLINE_SECONDS).lease_remaining_seconds == 15
        row = seed.row("leadership")
        assert row["renewed_at"] >= released
        assert row["lease_expires_at"] >= released + seconds(15)
        assert seed.row("leadership_terms")["elected_at"] >= released

    def test_a_renewed_lease_counts_from_after_the_wait(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        chief = commanding.elect("server-a", seed.server("server-a"))
        with held(holder, LOCK):
            answer = in_thread(lambda: commanding.renew(chief))
            until_lock_waits(watcher)
            released = seed.now()
        answer.result(DEADLINE_SECONDS)
        assert seed.row("leadership")["renewed_at"] >= released

    @staticmethod
    def across_the_expiry(call: Callable[[], T], seed: Seed, holder: Connection, watcher: Connection) -> Future[T]:
        """Let the call wait for the leadership row until the lease has ended; it has begun while the lease ran."""
        expires_at = seed.row("leadership")["lease_expires_at"]
        with held(holder, LOCK):
            answer = in_thread(call)
            until_lock_waits(watcher)
            assert seed.now() < expires_at, "the machine was too slow: the call began after the lease had ended"
            until_passed(watcher, expires_at)
        return answer


class TestRaces:
    @pytest.fixture
    def wide(self, database_settings: DatabaseSettings, session_clock: Clock) -> Iterator[Commanding]:
        """Connections for everybody, so that they meet in the database and not before the pool."""
        database = Database(replace(database_settings, pool_size=24))
        yield Commanding(database)
        database.dispose()

    def test_of_twenty_candidates_one_is_elected(self, wide: Commanding, seed: Seed, clock: Clock) -> None:
        boots = {f"server-{n}": seed.server(f"server-{n}") for n in range(20)}
        answers = together(*(lambda n=n, b=b: wide.campaign(n, b) for n, b in boots.items()))
        elected = [answer for answer in answers if answer.elected]
        assert len(elected) == 1, answers
        assert seed.row("leadership")["leader_server_id"] == elected[0].leader_server_id
        assert seed.count("leadership_terms") == 1

    def test_of_twenty_successors_one_is_elected(self, wide: Commanding, seed: Seed, clock: Clock) -> None:
        seed.server("server-x")
        seed.leader("server-x", fencing_token=7)
        boots = {f"server-{n}": seed.server(f"server-{n}") for n in range(20)}
        clock.advance(seconds=120)
        answers = together(*(lambda n=n, b=b: wide.campaign(n, b) for n, b in boots.items()))
        assert [answer.fencing_token for answer in answers if answer.elected] == [8]
        assert seed.count("leadership_terms") == 2

    def test_campaigns_and_departures_of_one_server_never_leave_it_leading(
        self, wide: Commanding, seed: Seed, clock: Clock
    ) -> None:
        boot_id = seed.server("server-a")
        chief = wide.elect("server-a", boot_id)
        together(
            *[lambda: wide.campaign("server-a", boot_id)] * 6,
            *[lambda: wide.renew(chief)] * 3,
            *[lambda: wide.deregister("server-a", boot_id)] * 3,
        )
        assert seed.row("leadership")["leader_server_id"] is None
        assert wide.database.retries == {}, "locks were taken in different orders"
