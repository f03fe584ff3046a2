"""Recovery: tasks whose owner vanished go back to the queue, delayed ones wake, and nobody else is disturbed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator import recovery
from coordinator.database import Database
from coordinator.recovery import Swept
from shared.policy import DEFAULT
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, batch, listing, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, until_passed


def sweep(database: Database) -> Swept:
    return recovery.sweep(database, DEFAULT)


class TestExpiry:
    @pytest.mark.parametrize(("after", "recovered"), [("59.999999", 0), ("60.000000", 1)])
    def test_a_task_is_taken_at_the_end_of_its_lease(
        self, database: Database, seed: Seed, clock: Clock, after: str, recovered: int
    ) -> None:
        running(seed, lease_seconds=60)
        clock.advance(seconds=after)
        assert sweep(database) == Swept(recovered, 0)

    def test_it_waits_with_key_checkpoint_and_batches_as_they_were(
        self, database: Database, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a")], page=1, token="after-1"))
        before = seed.row("crawl_tasks", task_id=crawl.task_id)
        clock.advance(seconds=60)
        sweep(database)
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert task["state"] == "queued"
        assert (task["server_id"], task["boot_id"], task["lease_expires_at"]) == (None, None, None)
        kept = ("dispatch_key", "due_at", "current_page", "last_cursor_token", "processed_count", "last_batch_no")
        assert {name: task[name] for name in kept} == {name: before[name] for name in kept}
        assert seed.count("server_slots", task_id=crawl.task_id) == 0
        event = seed.row("task_events", task_id=crawl.task_id, kind="expired")
        assert (event["server_id"], event["fencing_token"]) == ("server-a", 1)
        sound()

    def test_a_next_owner_gets_a_new_token_and_goes_on(
        self, database: Database, acting: Acting, seed: Seed, clock: Clock
    ) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a")], page=1, token="after-1"))
        clock.advance(seconds=60)
        sweep(database)
        grant = acting.acquire("server-b", seed.server("server-b"))
        assert grant is not None
        assert (grant.task_id, grant.fencing_token, grant.last_batch_no) == (crawl.task_id, 2, 1)
        assert (grant.checkpoint.current_page, grant.checkpoint.last_cursor_token) == (1, "after-1")

    def test_only_a_few_at_a_time(self, database: Database, seed: Seed, clock: Clock) -> None:
        for number in range(7):
            running(seed, f"server-{number}")
        clock.advance(seconds=60)
        assert [sweep(database).recovered for _ in range(3)] == [5, 2, 0]


class TestAttempts:
    def expire(self, database: Database, seed: Seed, clock: Clock, task_id: int) -> dict[str, object]:
        clock.advance(seconds=60)
        sweep(database)
        return seed.row("crawl_tasks", task_id=task_id)

    def test_an_end_without_a_new_page_is_an_attempt(self, database: Database, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=1, acquired_page=3, current_page=3, progress_page=9)
        assert self.expire(database, seed, clock, crawl.task_id)["attempts"] == 2

    def test_an_end_with_a_new_page_is_none(self, database: Database, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=3)
        acting.flush(crawl.owner, 1, batch([listing("a")], page=1))
        assert self.expire(database, seed, clock, crawl.task_id)["attempts"] == 0

    def test_part_of_a_page_is_no_progress(self, database: Database, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=3)
        acting.flush(crawl.owner, 1, batch([listing("a")], page=0, processed=0))
        assert self.expire(database, seed, clock, crawl.task_id)["attempts"] == 4

    def test_too_many_in_a_row_fail_the_task(
        self, database: Database, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed, attempts=DEFAULT.max_attempts - 1)
        task = self.expire(database, seed, clock, crawl.task_id)
        assert (task["state"], task["error_code"], task["ended_at"]) == ("failed", "no_progress", clock.now)
        account = seed.row("accounts", account_id=crawl.account_id)
        assert account["next_due_at"] == clock.now + seconds(DEFAULT.failure_cooldown_seconds)
        assert account["consecutive_failures"] == 1
        assert seed.count("server_slots", task_id=crawl.task_id) == 0
        kinds = [row["kind"] for row in seed.rows("SELECT kind FROM task_events ORDER BY event_id")]
        assert kinds == ["expired", "failed"]
        sound()


class TestWhatElseItFinds:
    def test_a_task_to_be_cancelled_is_cancelled(self, database: Database, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, cancel_requested=True)
        clock.advance(seconds=60)
        assert sweep(database).recovered == 1
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "cancelled"
        account = seed.row("accounts", account_id=crawl.account_id)
        assert account["next_due_at"] == clock.now + seconds(account["refresh_interval_seconds"])

    def test_a_task_of_a_paused_account_is_held(self, database: Database, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        seed.update("accounts", {"account_id": crawl.account_id}, paused=True)
        clock.advance(seconds=60)
        assert sweep(database).recovered == 1
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "held"

    @pytest.mark.parametrize(("after", "woken"), [("29.999999", 0), ("30.000000", 1)])
    def test_a_delayed_task_wakes_when_its_time_comes(
        self, database: Database, seed: Seed, clock: Clock, after: str, woken: int
    ) -> None:
        task_id = seed.task(seed.account("shopify"), "delayed", eligible_at=START + seconds(30))
        clock.advance(seconds=after)
        assert sweep(database) == Swept(0, woken)
        task = seed.row("crawl_tasks", task_id=task_id)
        expected = ("queued", None) if woken else ("delayed", START + seconds(30))
        assert (task["state"], task["eligible_at"]) == expected

    def test_a_held_task_sleeps_on(self, database: Database, seed: Seed, clock: Clock) -> None:
        task_id = seed.task(seed.account("shopify"), "held", eligible_at=START)
        clock.advance(seconds=1)
        assert sweep(database) == Swept(0, 0)
        assert seed.row("crawl_tasks", task_id=task_id)["state"] == "held"

    def test_a_slot_left_on_an_ended_task_is_freed_and_told(self, database: Database, seed: Seed) -> None:
        seed.server("server-a", marketplaces=["shopify"])
        task_id = seed.task(seed.account("shopify"), "failed")
        seed.update(
            "server_slots",
            {"server_id": "server-a", "slot_no": 2},
            task_id=task_id,
            marketplace_code="shopify",
            size_class="probe",
        )
        kept = seed.task(seed.account("etsy"), "running", server_id=seat_elsewhere(seed))
        assert database.transaction(recovery.free_stray_slots) == 1
        assert seed.count("server_slots", task_id=task_id) == 0
        assert seed.count("server_slots", task_id=kept) == 1
        assert seed.count("task_events", kind="slot_was_stray", task_id=task_id) == 1


def seat_elsewhere(seed: Seed) -> str:
    seed.server("server-b", marketplaces=["etsy"])
    return "server-b"


class Interrupted(Database):
    """A database in whose transactions something else happens first, from the second on."""

    happens: Callable[[], None] | None = None
    begun = 0

    def transaction(self, work, *, first=None):  # type: ignore[no-untyped-def]  # as the real one
        self.begun += 1
        if self.begun == 2 and self.happens is not None:
            self.happens()
        return super().transaction(work, first=first)


class TestOthersAtWork:
    @pytest.fixture
    def interrupted(self, database: Database) -> Interrupted:
        return Interrupted(database.settings)

    def test_a_lease_renewed_since_it_looked_is_respected(
        self, interrupted: Interrupted, seed: Seed, clock: Clock
    ) -> None:
        crawl = running(seed)
        clock.advance(seconds=60)
        renewed = clock.now + seconds(60)
        interrupted.happens = lambda: seed.update(
            "crawl_tasks", {"task_id": crawl.task_id}, fencing_token=2, lease_expires_at=renewed
        )
        assert sweep(interrupted) == Swept(0, 0)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"

    def test_a_task_that_ended_since_it_looked_stays_so(
        self, interrupted: Interrupted, acting: Acting, seed: Seed, clock: Clock
    ) -> None:
        crawl = running(seed)
        clock.advance(seconds=60)
        interrupted.happens = lambda: end(seed, crawl.task_id, clock)
        assert sweep(interrupted) == Swept(0, 0)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "cancelled"

    def test_a_delayed_task_that_was_put_off_since_it_looked_sleeps_on(
        self, interrupted: Interrupted, seed: Seed, clock: Clock
    ) -> None:
        task_id = seed.task(seed.account("shopify"), "delayed", eligible_at=START)
        later = START + seconds(10)
        interrupted.happens = lambda: seed.update("crawl_tasks", {"task_id": task_id}, eligible_at=later)
        assert sweep(interrupted) == Swept(0, 0)

    def test_a_task_that_somebody_writes_on_is_left_to_him(
        self, database: Database, seed: Seed, clock: Clock, holder: Connection
    ) -> None:
        held_task, other = running(seed, "server-a"), running(seed, "server-b")
        clock.advance(seconds=60)
        with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", held_task.task_id):
            assert sweep(database) == Swept(1, 0)
        assert seed.row("crawl_tasks", task_id=other.task_id)["state"] == "queued"
        assert sweep(database) == Swept(1, 0)


def end(seed: Seed, task_id: int, clock: Clock) -> None:
    seed.update("crawl_tasks", {"task_id": task_id}, state="cancelled", lease_expires_at=None, ended_at=clock.now)
    seed.update("server_slots", {"task_id": task_id}, task_id=None, marketplace_code=None, size_class=None)


class TestRequeueBoot:
    def test_all_that_a_boot_runs_goes_back_at_once(
        self, database: Database, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        seed.server("server-a", marketplaces=["shopify", "etsy"])
        mine = [seed.task(seed.account(code, size=9), "running", server_id="server-a") for code in ("etsy", "shopify")]
        other = running(seed, "server-b")
        taken = database.transaction(lambda tx: recovery.requeue_boot(tx, DEFAULT, "server-a", tx.now()))
        assert taken == 2
        assert [seed.row("crawl_tasks", task_id=task_id)["state"] for task_id in mine] == ["queued", "queued"]
        assert [seed.row("crawl_tasks", task_id=task_id)["attempts"] for task_id in mine] == [1, 1]
        assert seed.row("crawl_tasks", task_id=other.task_id)["state"] == "running"
        assert seed.count("task_events", kind="requeued") == 2
        sound()


class TestRealClock:
    def test_a_lease_that_ends_while_its_owner_writes_is_judged_when_he_is_done(
        self, database: Database, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        renewed, ended = running(seed, "server-a", lease_seconds=0.5), running(seed, "server-b", lease_seconds=0.5)
        both = "SELECT 1 FROM crawl_tasks WHERE task_id IN (%s, %s) FOR UPDATE"
        with held(holder, both, renewed.task_id, ended.task_id):
            until_passed(watcher, seed.row("crawl_tasks", task_id=ended.task_id)["lease_expires_at"])
            assert sweep(database) == Swept(0, 0)
            with holder.cursor() as cursor:
                renew = (
                    "UPDATE crawl_tasks SET lease_expires_at = UTC_TIMESTAMP(6) + INTERVAL 1 MINUTE WHERE task_id = %s"
                )
                cursor.execute(renew, (renewed.task_id,))
        assert sweep(database) == Swept(1, 0)
        states = [seed.row("crawl_tasks", task_id=each.task_id)["state"] for each in (renewed, ended)]
        assert states == ["running", "queued"]
