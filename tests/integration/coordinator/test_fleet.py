"""The fleet: registration, heartbeats, departure, and who counts as active."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from coordinator.capabilities import Capability
from coordinator.fleet import Telemetry
from shared.problems import BootSuperseded, InvalidInput, Problem, ServerIdInUse, ServerNotRegistered
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import running
from tests.integration.coordinator.commanding import Commanding, Daemon
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed

BOOT, OTHER_BOOT = uuid.UUID(int=1), uuid.UUID(int=9)


def slots_of(seed: Seed, server_id: str = "server-a") -> list[int]:
    rows = seed.rows("SELECT slot_no FROM server_slots WHERE server_id = %s ORDER BY slot_no", server_id)
    return [row["slot_no"] for row in rows]


def capabilities_of(seed: Seed, server_id: str = "server-a") -> dict[str, str]:
    rows = seed.rows("SELECT * FROM server_marketplaces WHERE server_id = %s", server_id)
    return {row["marketplace_code"]: row["cursor_format"] for row in rows}


class TestRegistration:
    def test_a_first_boot_gets_its_row_slots_and_capabilities(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        seed.marketplace("shopify")
        seed.marketplace("trendyol")
        daemon = Daemon.crawling("shopify", "trendyol")
        assert commanding.register(daemon) == START
        row = seed.row("servers")
        assert (row["boot_id"], row["machine_id"], row["hostname"]) == (daemon.boot_id.bytes, "machine-1", "host.test")
        assert (row["registered_at"], row["last_heartbeat_at"], row["acquire_seq"]) == (START, START, 0)
        assert slots_of(seed) == [1, 2, 3]
        assert capabilities_of(seed) == {"shopify": "rest/1", "trendyol": "rest/1"}
        assert seed.count("task_events", kind="registered", server_id="server-a") == 1
        assert seed.count("task_events", kind="boot_superseded") == 0

    def test_a_boot_that_can_crawl_nothing_registers(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        commanding.register(Daemon())
        assert capabilities_of(seed) == {}

    def test_the_same_boot_again_is_only_heard_of(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify")
        daemon = Daemon.crawling("shopify")
        commanding.register(daemon)
        seed.update("servers", {"server_id": "server-a"}, acquire_seq=5, draining=True)
        task_id = seed.task(seed.account("shopify"), "running", server_id="server-a")
        clock.advance(seconds=7)
        commanding.register(daemon)
        row = seed.row("servers")
        assert (row["registered_at"], row["last_heartbeat_at"]) == (START, START + seconds(7))
        assert (row["acquire_seq"], row["draining"]) == (5, 1)
        assert seed.row("crawl_tasks", task_id=task_id)["state"] == "running"
        assert seed.count("task_events", kind="registered") == 1
        sound()

    def test_a_new_boot_returns_the_old_ones_tasks_at_once(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify")
        old = Daemon.crawling("shopify")
        commanding.register(old)
        seed.update("servers", {"server_id": "server-a"}, acquire_seq=5, draining=True)
        task_id = seed.task(seed.account("shopify"), "running", server_id="server-a", lease_seconds=60)
        clock.advance(seconds=1)
        new = old.restarted()
        commanding.register(new)
        task = seed.row("crawl_tasks", task_id=task_id)
        assert (task["state"], task["server_id"], task["lease_expires_at"]) == ("queued", None, None)
        assert seed.count("server_slots", task_id=task_id) == 0
        row = seed.row("servers")
        assert (row["boot_id"], row["acquire_seq"], row["draining"]) == (new.boot_id.bytes, 0, 0)
        assert row["registered_at"] == clock.now
        sound()

    def test_another_servers_tasks_are_not_touched(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        other = running(seed, "server-b")
        commanding.register(Daemon())
        commanding.register(Daemon())
        assert seed.row("crawl_tasks", task_id=other.task_id)["state"] == "running"

    def test_the_leadership_is_left_alone(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        daemon = Daemon()
        commanding.register(daemon)
        commanding.elect("server-a", daemon.boot_id)
        before = seed.row("leadership")
        commanding.register(daemon.restarted())
        assert seed.row("leadership") == before

    def test_a_boot_that_was_replaced_never_comes_back(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        first = Daemon()
        second, third = first.restarted(), first.restarted()
        commanding.register(first)
        commanding.register(second)
        with pytest.raises(BootSuperseded):
            commanding.register(first)
        commanding.register(third)
        for replaced in (first, second):
            with pytest.raises(BootSuperseded):
                commanding.register(replaced)
        assert seed.row("servers")["boot_id"] == third.boot_id.bytes

    def test_a_boot_that_was_replaced_on_one_server_was_not_on_another(
        self, commanding: Commanding, clock: Clock
    ) -> None:
        first = Daemon()
        commanding.register(first)
        commanding.register(first.restarted())
        commanding.register(Daemon("server-b"))
        commanding.register(Daemon("server-b", first.boot_id))

    def test_a_boot_that_has_left_needs_a_fresh_start(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        daemon = Daemon()
        commanding.register(daemon)
        commanding.deregister("server-a", daemon.boot_id)
        with pytest.raises(ServerNotRegistered):
            commanding.register(daemon)
        commanding.register(daemon.restarted(machine_id="machine-2"))
        row = seed.row("servers")
        assert (row["deregistered_at"], row["machine_id"]) == (None, "machine-2")


class TestMachines:
    def test_a_server_that_is_alive_elsewhere_keeps_its_name(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        first = Daemon(machine_id="machine-1")
        second = Daemon(machine_id="machine-2")
        commanding.register(first)
        clock.advance(seconds="29.999999")
        with pytest.raises(ServerIdInUse) as caught:
            commanding.register(second)
        assert "machine-1" in caught.value.detail
        assert caught.value.retry_after_seconds == pytest.approx(0.000001)
        assert seed.row("servers")["boot_id"] == first.boot_id.bytes
        clock.advance(microseconds=1)
        commanding.register(second)
        assert seed.row("servers")["boot_id"] == second.boot_id.bytes

    def test_the_same_machine_need_not_wait(self, commanding: Commanding, clock: Clock) -> None:
        daemon = Daemon()
        commanding.register(daemon)
        commanding.register(daemon.restarted())


class TestCapabilities:
    def test_an_unknown_marketplace_is_named(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        seed.marketplace("shopify")
        with pytest.raises(InvalidInput) as caught:
            commanding.register(Daemon.crawling("shopify", "nowhere"))
        assert list(caught.value.members["errors"]) == ["marketplaces.1.marketplace_code"]
        assert "nowhere" in caught.value.detail
        assert seed.count("servers") == 0

    def test_a_marketplace_that_is_named_twice_is_refused(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        seed.marketplace("shopify")
        with pytest.raises(InvalidInput, match="twice"):
            commanding.register(Daemon.crawling("shopify", "shopify"))

    def test_a_new_boot_brings_its_own(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        for code in ("shopify", "trendyol", "n11"):
            seed.marketplace(code)
        commanding.register(Daemon.crawling("shopify", "trendyol"))
        task_id = seed.task(seed.account("shopify"), "running", server_id="server-a")
        commanding.register(Daemon(capabilities=(Capability("trendyol", "rest/2"), Capability("n11", "rest/1"))))
        assert capabilities_of(seed) == {"trendyol": "rest/2", "n11": "rest/1"}
        assert seed.row("crawl_tasks", task_id=task_id)["state"] == "queued"

    def test_what_runs_keeps_its_capability(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify")
        seed.marketplace("trendyol")
        daemon = Daemon.crawling("shopify", "trendyol")
        commanding.register(daemon)
        seed.task(seed.account("shopify"), "running", server_id="server-a")
        commanding.register(Daemon(boot_id=daemon.boot_id))
        assert capabilities_of(seed) == {"shopify": "rest/1"}
        sound()


class TestSlots:
    def test_they_grow_and_shrink_with_the_policy(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        daemon = Daemon()
        commanding.register(daemon)
        for slots in (5, 2, 3):
            commanding.with_policy(slots_per_server=slots).heartbeat("server-a", daemon.boot_id)
            assert slots_of(seed) == list(range(1, slots + 1))

    def test_a_seated_one_leaves_when_it_is_free(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify")
        daemon = Daemon.crawling("shopify")
        commanding.register(daemon)
        task_id = seed.task(seed.account("shopify"), "running", server_id="server-a")
        one = commanding.with_policy(slots_per_server=1)
        seed.execute("UPDATE server_slots SET slot_no = 9 WHERE task_id = %s", task_id)
        one.heartbeat("server-a", daemon.boot_id)
        assert slots_of(seed) == [1, 9]
        seed.execute(
            "UPDATE crawl_tasks SET state = 'queued', server_id = NULL, boot_id = NULL, lease_expires_at = NULL"
        )
        seed.execute("UPDATE server_slots SET task_id = NULL, marketplace_code = NULL, size_class = NULL")
        one.heartbeat("server-a", daemon.boot_id)
        assert slots_of(seed) == [1]
        sound()

    def test_a_registration_follows_the_policy_too(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        commanding.with_policy(slots_per_server=5).register(Daemon())
        commanding.with_policy(slots_per_server=2).register(Daemon())
        assert slots_of(seed) == [1, 2]


class TestHeartbeat:
    def test_it_is_noted_with_its_telemetry(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        boot_id = seed.server("server-a")
        clock.advance(seconds=10)
        heard = commanding.heartbeat("server-a", boot_id, Telemetry(99.5, 123_456, 3))
        assert (heard.drain, heard.now) == (False, clock.now)
        assert seed.row("servers")["last_heartbeat_at"] == clock.now
        sample = seed.row("server_samples")
        assert (float(sample["cpu_percent"]), sample["rss_bytes"], sample["running_tasks"]) == (99.5, 123_456, 3)
        assert (sample["sampled_at"], sample["boot_id"]) == (clock.now, boot_id.bytes)

    def test_it_tells_a_draining_server_to_drain(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        assert commanding.heartbeat("server-a", seed.server("server-a", draining=True)).drain

    def test_samples_come_no_faster_than_half_the_interval(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        boot_id = seed.server("server-a")
        for step, samples in (("0", 1), ("0", 1), ("4.999999", 1), ("0.000001", 2), ("0", 2)):
            clock.advance(seconds=step)
            commanding.heartbeat("server-a", boot_id)
            assert seed.count("server_samples") == samples, clock.now

    @pytest.mark.parametrize(
        ("columns", "boot_id", "problem"),
        [
            (None, BOOT, ServerNotRegistered),
            ({"deregistered_at": START}, BOOT, ServerNotRegistered),
            ({}, OTHER_BOOT, BootSuperseded),
            ({"deregistered_at": START}, OTHER_BOOT, BootSuperseded),
        ],
    )
    def test_only_the_current_boot_is_heard(
        self,
        commanding: Commanding,
        seed: Seed,
        clock: Clock,
        columns: dict[str, Any] | None,
        boot_id: uuid.UUID,
        problem: type[Problem],
    ) -> None:
        if columns is not None:
            seed.server("server-a", BOOT, **columns)
        before = seed.rows("SELECT * FROM servers")
        clock.advance(seconds=1)
        with pytest.raises(problem):
            commanding.heartbeat("server-a", boot_id)
        assert seed.rows("SELECT * FROM servers") == before
        assert seed.count("server_samples") == 0


class TestDeparture:
    def test_leadership_and_tasks_are_free_at_once(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        task = running(seed, "server-a")
        chief = commanding.elect("server-a", task.owner.boot_id)
        clock.advance(seconds=2)
        commanding.deregister("server-a", task.owner.boot_id)
        assert seed.row("servers")["deregistered_at"] == clock.now
        assert seed.row("leadership")["leader_server_id"] is None
        term = seed.row("leadership_terms", fencing_token=chief.fencing_token)
        assert (term["ended_at"], term["end_reason"]) == (clock.now, "deregistered")
        assert seed.row("crawl_tasks", task_id=task.task_id)["state"] == "queued"
        assert seed.count("task_events", kind="server_deregistered", server_id="server-a") == 1
        assert commanding.campaign("server-b", seed.server("server-b")).elected
        sound()

    def test_an_older_boots_leadership_is_free_too(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        daemon = Daemon()
        commanding.register(daemon)
        commanding.elect("server-a", daemon.boot_id)
        successor = daemon.restarted()
        commanding.register(successor)
        commanding.deregister("server-a", successor.boot_id)
        assert seed.row("leadership")["leader_server_id"] is None

    def test_another_leader_stays(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        commanding.elect("server-b", seed.server("server-b"))
        commanding.deregister("server-a", seed.server("server-a"))
        assert seed.row("leadership")["leader_server_id"] == "server-b"

    def test_a_repeat_changes_nothing(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        boot_id = seed.server("server-a")
        commanding.deregister("server-a", boot_id)
        clock.advance(seconds=5)
        commanding.deregister("server-a", boot_id)
        assert seed.row("servers")["deregistered_at"] == START
        assert seed.count("task_events", kind="server_deregistered") == 1

    def test_a_replaced_boot_takes_nobody_with_it(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        task = running(seed, "server-a")
        with pytest.raises(BootSuperseded):
            commanding.deregister("server-a", uuid.uuid4())
        with pytest.raises(ServerNotRegistered):
            commanding.deregister("server-x", uuid.uuid4())
        assert seed.row("crawl_tasks", task_id=task.task_id)["state"] == "running"
        assert seed.row("servers")["deregistered_at"] is None


class TestActiveServers:
    def test_a_server_counts_while_it_was_heard_of_lately(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        assert commanding.active_servers() == 0
        boot_id = seed.server("server-a")
        clock.advance(seconds="119.999999")
        assert commanding.active_servers() == 1
        clock.advance(microseconds=1)
        assert commanding.active_servers() == 0
        commanding.heartbeat("server-a", boot_id)
        assert commanding.active_servers() == 1

    def test_who_drains_or_has_left_does_not_count(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        seed.server("server-a")
        seed.server("server-b", draining=True)
        seed.server("server-c", deregistered_at=START)
        seed.server("server-d", paused=True)
        assert commanding.active_servers() == 2
