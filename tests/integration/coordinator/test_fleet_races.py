"""The fleet under contention: boots that register at once, departures beside elections, clocks read after waits."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.database import Database
from shared.problems import BootSuperseded, ServerIdInUse
from tests.integration.clock import Clock
from tests.integration.coordinator.acting import running
from tests.integration.coordinator.commanding import Commanding, Daemon
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, together, until_lock_waits, until_passed

LOCK_SERVER = "SELECT * FROM servers WHERE server_id = 'server-a' FOR UPDATE"
DEADLINE_SECONDS = 10


class TestBootsAtOnce:
    @pytest.mark.parametrize("known", [False, True], ids=["new server", "known server"])
    def test_of_many_boots_one_is_current_and_the_others_are_replaced(
        self, commanding: Commanding, seed: Seed, clock: Clock, known: bool, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify")
        if known:
            commanding.register(Daemon.crawling("shopify"))
        boots = [Daemon.crawling("shopify") for _ in range(6)]
        together(*(lambda d=d: commanding.register(d) for d in boots))
        current = seed.row("servers")["boot_id"]
        assert current in {daemon.boot_id.bytes for daemon in boots}
        assert seed.count("server_slots") == 3
        assert seed.count("task_events", kind="boot_superseded") == len(boots) - 1 + known
        for daemon in boots:
            if daemon.boot_id.bytes != current:
                with pytest.raises(BootSuperseded):
                    commanding.heartbeat("server-a", daemon.boot_id)
                with pytest.raises(BootSuperseded):
                    commanding.register(daemon)
        sound()

    def test_one_boot_that_asks_twice_at_once_registers_once(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        seed.marketplace("shopify")
        daemon = Daemon.crawling("shopify")
        answers = together(*[lambda: commanding.register(daemon)] * 4)
        assert answers == [clock.now] * 4
        assert seed.count("task_events", kind="boot_superseded") == 0
        assert seed.count("server_slots") == 3

    def test_of_two_machines_the_first_has_the_name(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        daemons = [Daemon(machine_id=f"machine-{n}") for n in range(4)]
        answers = together(*(lambda d=d: commanding.register(d) for d in daemons))
        refused = [answer for answer in answers if isinstance(answer, ServerIdInUse)]
        assert len(refused) == 3, answers
        assert seed.count("task_events", kind="boot_superseded") == 0

    def test_two_servers_that_register_at_once_do_not_wait_for_each_other(
        self, commanding: Commanding, database: Database, seed: Seed, clock: Clock
    ) -> None:
        seed.marketplace("shopify")
        daemons = [Daemon.crawling("shopify", server_id=f"server-{n}") for n in range(6)]
        assert together(*(lambda d=d: commanding.register(d) for d in daemons)) == [clock.now] * 6
        assert database.retries == {}


class TestOrderOfLocks:
    def test_a_departure_waits_for_the_leadership_before_it_holds_its_server(
        self, commanding: Commanding, seed: Seed, clock: Clock, holder: Connection, watcher: Connection
    ) -> None:
        boot_id = seed.server("server-a")
        with held(holder, "SELECT * FROM leadership FOR SHARE"):
            departure = in_thread(lambda: commanding.deregister("server-a", boot_id))
            until_lock_waits(watcher)
            in_thread(lambda: commanding.heartbeat("server-a", boot_id)).result(DEADLINE_SECONDS)
        departure.result(DEADLINE_SECONDS)
        assert commanding.database.retries == {}, "one of them waited for the other"

    def test_a_new_boot_beside_the_old_ones_owner_does_not_deadlock(
        self,
        commanding: Commanding,
        database: Database,
        seed: Seed,
        clock: Clock,
        holder: Connection,
        watcher: Connection,
    ) -> None:
        task = running(seed, "server-a")
        with held(holder, "SELECT * FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task.task_id) as owner:
            registration = in_thread(
                lambda: commanding.register(Daemon.crawling("shopify", machine_id="machine-of-server-a"))
            )
            until_lock_waits(watcher)
            with owner.cursor() as cursor:
                cursor.execute("SELECT * FROM server_slots WHERE task_id = %s FOR UPDATE", (task.task_id,))
        registration.result(DEADLINE_SECONDS)
        assert database.retries == {}


class TestTheClockIsReadAfterTheWait:
    def test_a_registration_that_waited_until_the_other_machine_was_silent_long_enough(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        heard = seed.now() - seconds(29)
        seed.server("server-a", last_heartbeat_at=heard)
        with held(holder, LOCK_SERVER):
            registration = in_thread(lambda: commanding.register(Daemon(machine_id="machine-2")))
            until_lock_waits(watcher)
            assert seed.now() < heard + seconds(30), "the machine was too slow for this test"
            until_passed(watcher, heard + seconds(30))
        registration.result(DEADLINE_SECONDS)

    def test_a_registration_sees_the_heartbeat_that_it_waited_for(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        seed.server("server-a", last_heartbeat_at=seed.now() - seconds(60))
        with held(holder, LOCK_SERVER) as other:
            registration = in_thread(lambda: commanding.register(Daemon(machine_id="machine-2")))
            until_lock_waits(watcher)
            with other.cursor() as cursor:
                cursor.execute("UPDATE servers SET last_heartbeat_at = UTC_TIMESTAMP(6)")
        with pytest.raises(ServerIdInUse):
            registration.result(DEADLINE_SECONDS)

    def test_a_heartbeat_counts_from_after_the_wait(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        boot_id = seed.server("server-a")
        with held(holder, LOCK_SERVER):
            heartbeat = in_thread(lambda: commanding.heartbeat("server-a", boot_id))
            until_lock_waits(watcher)
            released = seed.now()
        assert heartbeat.result(DEADLINE_SECONDS).now >= released
        assert seed.row("servers")["last_heartbeat_at"] >= released

    def test_a_departure_counts_from_after_the_wait(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        brief = commanding.with_policy(leader_lease_seconds=0.5)
        boot_id = seed.server("server-a")
        brief.elect("server-a", boot_id)
        expires_at = seed.row("leadership")["lease_expires_at"]
        with held(holder, LOCK_SERVER):
            departure = in_thread(lambda: brief.deregister("server-a", boot_id))
            until_lock_waits(watcher)
            until_passed(watcher, expires_at)
        departure.result(DEADLINE_SECONDS)
        assert seed.row("leadership_terms")["ended_at"] == expires_at
        assert seed.row("servers")["deregistered_at"] >= expires_at
