"""What people are shown: the cluster's figures and alarms, and pages that go on where the last one ended."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from coordinator import pages, status
from coordinator.database import Database
from coordinator.pages import Page
from coordinator.status import Cluster
from shared.policy import DEFAULT
from shared.states import SizeClass, TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import running
from tests.integration.coordinator.commanding import Commanding
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed

MICROSECOND = datetime.timedelta(microseconds=1)


@pytest.fixture
def cluster(database: Database, clock: Clock) -> Callable[[], Cluster]:
    return lambda: database.transaction(lambda tx: status.cluster(tx, DEFAULT))


class TestCluster:
    def test_an_empty_one(self, cluster: Callable[[], Cluster]) -> None:
        found = cluster()
        assert (found.now, found.active_servers, found.capacity, found.running) == (START, 0, 0, 0)
        assert found.leadership.leader_server_id is None
        assert found.tasks == dict.fromkeys(TaskState, 0)
        assert vars(found.accounts) == {
            "on_time": 0,
            "catching_up": 0,
            "late": 0,
            "action_required": 0,
            "paused": 0,
        }

    def test_who_leads_what_runs_and_what_waits(
        self, cluster: Callable[[], Cluster], commanding: Commanding, seed: Seed
    ) -> None:
        task = running(seed, "server-a")
        commanding.elect("server-a", task.owner.boot_id)
        seed.server("server-b")
        seed.server("server-c", draining=True)
        for state in ("queued", "queued", "delayed", "held", "completed", "failed", "cancelled"):
            seed.task(seed.account("shopify"), state)
        found = cluster()
        assert (found.leadership.leader_server_id, found.leadership.fencing_token) == ("server-a", 1)
        assert (found.active_servers, found.capacity, found.running) == (2, 6, 1)
        assert found.tasks == {
            TaskState.QUEUED: 2,
            TaskState.DELAYED: 1,
            TaskState.HELD: 1,
            TaskState.RUNNING: 1,
            TaskState.COMPLETED: 1,
            TaskState.FAILED: 1,
            TaskState.CANCELLED: 1,
        }

    @pytest.mark.parametrize(
        ("columns", "freshness"),
        [
            ({"last_completed_at": START - seconds(3600)}, "on_time"),
            ({"last_completed_at": START - seconds(3600) - MICROSECOND}, "catching_up"),
            ({"last_completed_at": START - seconds(7200)}, "catching_up"),
            ({"last_completed_at": START - seconds(7200) - MICROSECOND}, "late"),
            ({"created_at": START}, "catching_up"),
            ({"created_at": START - seconds(7200)}, "catching_up"),
            ({"created_at": START - seconds(7200) - MICROSECOND}, "late"),
            ({"last_completed_at": START, "suspended_at": START}, "action_required"),
            ({"last_completed_at": START, "suspended_at": START, "paused": True}, "paused"),
        ],
    )
    def test_freshness_is_the_datas_age_against_its_interval(
        self, cluster: Callable[[], Cluster], seed: Seed, columns: dict[str, Any], freshness: str
    ) -> None:
        seed.account("shopify", refresh_interval_seconds=3600, **columns)
        assert {name for name, count in vars(cluster().accounts).items() if count} == {freshness}

    @pytest.mark.parametrize(
        ("column", "write"),
        [
            ("servers.last_heartbeat_at", "UPDATE servers SET last_heartbeat_at = %s"),
            ("leadership.renewed_at", "UPDATE leadership SET renewed_at = %s, lease_expires_at = '9000-01-01'"),
            ("leadership_terms.elected_at", "UPDATE leadership_terms SET elected_at = %s"),
            ("task_events.recorded_at", "UPDATE task_events SET recorded_at = %s"),
        ],
    )
    def test_an_instant_over_five_seconds_ahead_is_an_alarm(
        self, cluster: Callable[[], Cluster], commanding: Commanding, seed: Seed, column: str, write: str
    ) -> None:
        commanding.elect("server-a", seed.server("server-a"))
        seed.execute(write, START + seconds(5))
        assert cluster().instants_ahead == []
        seed.execute(write, START + seconds(5) + MICROSECOND)
        assert [(ahead.column, ahead.seconds_ahead) for ahead in cluster().instants_ahead] == [(column, 5.000001)]


class TestPages:
    def walk(self, read: Callable[[Any], Page[Any]], first: Any) -> list[Any]:
        """All items, page by page."""
        found, after = [], first
        while True:
            page = read(after)
            found += page.items
            if page.next_after is None:
                return found
            after = page.next_after

    def test_a_page_that_ends_the_list_says_so(self, database: Database, seed: Seed, clock: Clock) -> None:
        for _ in range(4):
            seed.account("shopify")
        first = database.transaction(lambda tx: pages.accounts(tx, limit=2))
        last = database.transaction(lambda tx: pages.accounts(tx, int(first.next_after or 0), limit=2))
        assert (len(first.items), len(last.items), last.next_after) == (2, 2, None)
        assert database.transaction(lambda tx: pages.accounts(tx, 10**6)) == Page([], None)

    def test_tasks_in_one_state_or_in_all(self, database: Database, seed: Seed, clock: Clock) -> None:
        tasks = [seed.task(seed.account("shopify"), state) for state in ("queued", "completed", "queued", "held")]
        seed.execute("UPDATE crawl_tasks SET dispatch_key = dispatch_key - INTERVAL task_id SECOND")
        every = self.walk(lambda after: database.transaction(lambda tx: pages.tasks(tx, after, 1)), 0)
        assert [line.task_id for line in every] == tasks
        queued = self.walk(
            lambda after: database.transaction(lambda tx: pages.tasks(tx, after, 1, TaskState.QUEUED)), 0
        )
        assert [line.task_id for line in queued] == [tasks[0], tasks[2]]

    def test_a_running_task_shows_its_progress_another_what_is_durable(
        self, database: Database, seed: Seed, clock: Clock
    ) -> None:
        counters = {
            "current_page": 2,
            "processed_count": 200,
            "total_discovered_count": 900,
            "progress_page": 4,
            "progress_processed_count": 400,
            "progress_total_count": 901,
        }
        running(seed, "server-a", **counters)
        seed.task(seed.account("shopify", size=7, account_ref="seller-1"), "queued", **counters)
        runs, waits = database.transaction(pages.tasks).items
        assert (runs.state, runs.server_id, runs.size_class) == (TaskState.RUNNING, "server-a", SizeClass.SMALL)
        assert (runs.current_page, runs.processed_count, runs.total_discovered_count) == (4, 400, 901)
        assert (waits.current_page, waits.processed_count, waits.total_discovered_count) == (2, 200, 900)
        assert (waits.partner_code, waits.marketplace_code, waits.account_ref) == ("acme", "shopify", "seller-1")

    def test_an_account_shows_its_active_task(self, database: Database, seed: Seed, clock: Clock) -> None:
        idle, busy = seed.account("shopify", paused=True), seed.account("shopify")
        seed.task(busy, "completed")
        task_id = seed.task(busy, "delayed")
        first, second = database.transaction(pages.accounts).items
        assert (first.account_id, first.paused, first.task_id, first.task_state) == (idle, True, None, None)
        assert (second.task_id, second.task_state, second.row_version) == (task_id, TaskState.DELAYED, 1)

    def test_a_server_shows_its_slots_and_its_last_sample(self, database: Database, seed: Seed, clock: Clock) -> None:
        task = running(seed, "server-b")
        seed.server("server-a", slots=2)
        for age, cpu in ((20, 10), (10, 55.5)):
            seed.insert(
                "server_samples",
                server_id="server-b",
                sampled_at=START - seconds(age),
                boot_id=task.owner.boot_id.bytes,
                cpu_percent=cpu,
                rss_bytes=1000,
                running_tasks=1,
            )
        every = self.walk(lambda after: database.transaction(lambda tx: pages.servers(tx, after, 1)), "")
        first, second = every
        assert (first.server_id, first.slots, first.running, first.cpu_percent) == ("server-a", 2, 0, None)
        assert (second.server_id, second.slots, second.running, second.cpu_percent) == ("server-b", 3, 1, 55.5)
        assert second.boot_id == task.owner.boot_id
