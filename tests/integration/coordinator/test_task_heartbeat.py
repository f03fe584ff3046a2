"""Task heartbeats: liveness and progress, never the checkpoint that a next owner resumes from."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from coordinator import fleet
from coordinator.capabilities import Capability
from coordinator.database import Database
from coordinator.fleet import Registration
from shared.problems import NotFound, StaleTaskOwner, TaskStalled
from shared.states import Progress
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import CURSOR_FORMAT, Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed


class TestLease:
    def test_it_is_extended_from_now(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, lease_seconds=60)
        clock.advance(seconds="59.999999")
        answer = acting.heartbeat(crawl.owner)
        assert answer.lease_remaining_seconds == 60
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"] == clock.now + seconds(60)

    def test_it_is_not_revived_once_it_has_ended(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, lease_seconds=60)
        clock.advance(seconds=60)
        with pytest.raises(StaleTaskOwner, match="lease has ended"):
            acting.heartbeat(crawl.owner)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"] == clock.now

    def test_two_alike_are_both_good(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        answers = [acting.heartbeat(crawl.owner, 2, 20) for _ in range(2)]
        assert [answer.progress for answer in answers] == [Progress.RECORDED, Progress.RECORDED]


class TestOwnership:
    @pytest.mark.parametrize(
        "changes",
        [{"server_id": "server-b"}, {"boot_id": uuid.UUID(int=7)}, {"fencing_token": 2}],
        ids=["server", "boot", "token"],
    )
    def test_another_owner_writes_nothing(self, acting: Acting, seed: Seed, changes: dict[str, object]) -> None:
        crawl = running(seed)
        before = seed.row("crawl_tasks", task_id=crawl.task_id)
        with pytest.raises(StaleTaskOwner):
            acting.heartbeat(replace(crawl.owner, **changes), 9, 900)  # type: ignore[arg-type]
        assert seed.row("crawl_tasks", task_id=crawl.task_id) == before

    def test_a_boot_owns_nothing_once_another_has_registered(
        self, acting: Acting, database: Database, seed: Seed
    ) -> None:
        crawl = running(seed)
        capability = Capability("shopify", CURSOR_FORMAT)
        registration = Registration("server-a", uuid.uuid4(), "machine-of-server-a", "a.test", "2", [capability])
        database.transaction(lambda tx: fleet.register(tx, acting.policy, registration))
        with pytest.raises(StaleTaskOwner):
            acting.heartbeat(crawl.owner)
        grant = acting.acquire("server-a", registration.boot_id)
        assert grant is not None
        with pytest.raises(StaleTaskOwner):
            acting.heartbeat(replace(crawl.owner, fencing_token=grant.fencing_token))

    @pytest.mark.parametrize("state", ["queued", "delayed", "held", "completed", "failed", "cancelled"])
    def test_a_task_that_does_not_run_has_no_owner(self, acting: Acting, seed: Seed, state: str) -> None:
        crawl = running(seed)
        task_id = seed.task(seed.account("shopify"), state)
        with pytest.raises(StaleTaskOwner, match=state):
            acting.heartbeat(replace(crawl.owner, task_id=task_id))

    def test_a_task_that_is_not_there(self, acting: Acting, seed: Seed) -> None:
        with pytest.raises(NotFound):
            acting.heartbeat(replace(running(seed).owner, task_id=4711))


class TestProgress:
    def stored(self, seed: Seed, task_id: int) -> tuple[object, ...]:
        task = seed.row("crawl_tasks", task_id=task_id)
        names = ("page", "cursor_token", "processed_count", "total_count", "at")
        return tuple(task[f"progress_{name}"] for name in names)

    def test_it_moves_forward(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        clock.advance(seconds=10)
        answer = acting.heartbeat(crawl.owner, 2, 200, token="after-2", total=900)
        assert answer.progress is Progress.RECORDED
        assert self.stored(seed, crawl.task_id) == (2, "after-2", 200, 900, clock.now)

    @pytest.mark.parametrize(("page", "processed"), [(1, 200), (2, 199), (3, 199), (1, 201)])
    def test_a_report_that_is_behind_shows_only_life(
        self, acting: Acting, seed: Seed, clock: Clock, page: int, processed: int
    ) -> None:
        crawl = running(seed)
        acting.heartbeat(crawl.owner, 2, 200, token="after-2", total=900)
        clock.advance(seconds=10)
        answer = acting.heartbeat(crawl.owner, page, processed, token="other", total=800)
        assert answer.progress is Progress.STALE
        assert (answer.current_page, answer.last_cursor_token, answer.processed_count) == (2, "after-2", 200)
        assert answer.total_discovered_count == 900
        assert self.stored(seed, crawl.task_id) == (2, "after-2", 200, 900, START)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"] == clock.now + seconds(60)

    def test_the_total_is_a_running_maximum(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.heartbeat(crawl.owner, 1, 100, total=900)
        assert acting.heartbeat(crawl.owner, 2, 200, total=850).total_discovered_count == 900
        assert acting.heartbeat(crawl.owner, 3, 300, total=None).total_discovered_count == 900
        assert acting.heartbeat(crawl.owner, 3, 300, total=950).total_discovered_count == 950

    def test_the_checkpoint_stays(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed, current_page=1, last_cursor_token="after-1", processed_count=100, progress_page=1)
        acting.heartbeat(crawl.owner, 5, 500, token="after-5", total=900)
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        checkpoint = (task["current_page"], task["last_cursor_token"], task["processed_count"])
        assert checkpoint == (1, "after-1", 100), "a next owner would lose what is still in memory"
        assert task["total_discovered_count"] is None


class TestStall:
    def crawl_idle_for(self, clock: Clock, acting: Acting, seed: Seed, idle: str, waited: float = 0) -> None:
        crawl = running(seed, lease_seconds=100_000)
        clock.advance(seconds=idle)
        acting.heartbeat(crawl.owner, waited=waited)

    def test_one_that_completed_no_page_for_too_long(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, lease_seconds=100_000)
        ends = seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"]
        clock.advance(seconds=900)
        with pytest.raises(TaskStalled, match="900 s"):
            acting.heartbeat(crawl.owner)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"] == ends

    def test_one_that_is_not_quite_there(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        self.crawl_idle_for(clock, acting, seed, "899.999999")

    def test_waits_that_the_marketplace_demanded_do_not_count(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        self.crawl_idle_for(clock, acting, seed, "929.999999", waited=30)

    def test_they_count_no_longer_than_they_were(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        with pytest.raises(TaskStalled):
            self.crawl_idle_for(clock, acting, seed, "930", waited=30)

    def test_one_that_completed_a_page_just_now(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, lease_seconds=100_000)
        clock.advance(seconds=900)
        acting.heartbeat(crawl.owner, 1, 100)
        clock.advance(seconds="59.999999")
        acting.heartbeat(crawl.owner, 1, 100)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["progress_at"] == START + seconds(900)


class TestOrders:
    def test_nothing_is_asked_by_default(self, acting: Acting, seed: Seed) -> None:
        answer = acting.heartbeat(running(seed).owner)
        assert (answer.cancel, answer.yield_, answer.drain, answer.credentials_version) == (False, False, False, None)

    def test_all_that_can_be_asked(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed, cancel_requested=True, yield_requested=True)
        seed.update("servers", {"server_id": "server-a"}, draining=True)
        seed.insert(
            "account_credentials",
            account_id=crawl.account_id,
            version=4,
            encryption_version=1,
            secret_nonce=bytes(12),
            secret_sealed=bytes(32),
            updated_at=seed.now(),
        )
        answer = acting.heartbeat(crawl.owner)
        assert (answer.cancel, answer.yield_, answer.drain, answer.credentials_version) == (True, True, True, 4)


def test_a_heartbeat_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    ends = seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"]
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.heartbeat(crawl.owner, 1, 100))
        until_lock_waits(watcher)
        until_passed(watcher, ends)
    assert isinstance(answer.exception(10), StaleTaskOwner)
    task = seed.row("crawl_tasks", task_id=crawl.task_id)
    assert (task["lease_expires_at"], task["progress_page"]) == (ends, 0)
