"""Pausing and resuming accounts: what becomes of their tasks, and what an operator who looked long ago may not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.database import Database
from shared.problems import NotFound, RowVersionConflict
from shared.states import TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, running
from tests.integration.coordinator.commanding import Commanding
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

DEADLINE_SECONDS = 10


class TestPause:
    def test_an_account_without_a_task_is_no_candidate(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        account_id = seed.account("shopify")
        standing = commanding.pause(account_id)
        assert (standing.paused, standing.row_version, standing.task_state) == (True, 2, None)
        assert commanding.candidates().candidates == []
        entry = seed.row("audit_log")
        assert (entry["actor"], entry["action"]) == ("operator-1", "account.pause")
        assert (entry["subject"], entry["request_id"]) == (f"account:{account_id}", "request-1")

    @pytest.mark.parametrize(("state", "eligible_at"), [("queued", None), ("delayed", START + seconds(60))])
    def test_its_waiting_task_is_held(
        self, commanding: Commanding, seed: Seed, clock: Clock, state: str, eligible_at: Any
    ) -> None:
        account_id = seed.account("shopify")
        task_id = seed.task(account_id, state)
        assert commanding.pause(account_id).task_state is TaskState.HELD
        row = seed.row("crawl_tasks")
        assert (row["state"], row["eligible_at"]) == ("held", eligible_at)
        assert seed.count("task_events", kind="held", task_id=task_id) == 1

    def test_what_runs_goes_on(
        self, commanding: Commanding, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        task = running(seed)
        assert commanding.pause(task.account_id).task_state is TaskState.RUNNING
        assert seed.row("crawl_tasks")["state"] == "running"
        sound()

    def test_a_repeat_changes_nothing(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        account_id = seed.account("shopify")
        seed.task(account_id)
        commanding.pause(account_id)
        standing = commanding.pause(account_id, row_version=2)
        assert (standing.paused, standing.row_version, standing.task_state) == (True, 2, TaskState.HELD)
        assert seed.count("audit_log") == 1


class TestResume:
    @pytest.mark.parametrize(
        ("eligible_at", "state", "kept"),
        [
            (None, "queued", None),
            (START, "queued", None),
            (START + seconds(0.000001), "delayed", START + seconds(0.000001)),
        ],
    )
    def test_a_held_task_waits_again(
        self, commanding: Commanding, seed: Seed, clock: Clock, eligible_at: Any, state: str, kept: Any
    ) -> None:
        account_id = seed.account("shopify", paused=True)
        task_id = seed.task(account_id, "held", eligible_at=eligible_at)
        standing = commanding.resume(account_id)
        assert (standing.paused, standing.row_version, standing.task_state) == (False, 2, TaskState(state))
        row = seed.row("crawl_tasks")
        assert (row["state"], row["eligible_at"]) == (state, kept)
        assert seed.count("task_events", kind="resumed", task_id=task_id) == 1
        assert seed.row("audit_log")["action"] == "account.resume"

    def test_an_account_without_a_task_is_a_candidate_again(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        account_id = seed.account("shopify", paused=True)
        assert commanding.resume(account_id).task_state is None
        assert len(commanding.candidates().candidates) == 1

    def test_what_was_not_paused_stays_as_it_is(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        account_id = seed.account("shopify")
        seed.task(account_id, "held")
        assert commanding.resume(account_id).row_version == 1
        assert seed.row("crawl_tasks")["state"] == "held"
        assert seed.count("audit_log") == 0


@pytest.mark.parametrize("verb", ["pause", "resume"])
class TestBothVerbs:
    def test_an_operator_who_saw_another_version_is_refused(
        self, commanding: Commanding, seed: Seed, clock: Clock, verb: str
    ) -> None:
        account_id = seed.account("shopify", paused=verb == "resume", row_version=5)
        seed.task(account_id, "held" if verb == "resume" else "queued")
        before = seed.row("accounts"), seed.row("crawl_tasks")
        with pytest.raises(RowVersionConflict) as caught:
            getattr(commanding, verb)(account_id, 4)
        assert caught.value.members == {"row_version": 5}
        assert (seed.row("accounts"), seed.row("crawl_tasks")) == before
        assert seed.count("audit_log") == 0

    def test_an_account_that_is_not_there_is_named(self, commanding: Commanding, clock: Clock, verb: str) -> None:
        with pytest.raises(NotFound, match="4711"):
            getattr(commanding, verb)(4711)


class TestRaces:
    def test_a_pause_waits_for_the_task_and_holds_no_account_meanwhile(
        self,
        commanding: Commanding,
        database: Database,
        seed: Seed,
        clock: Clock,
        holder: Connection,
        watcher: Connection,
    ) -> None:
        account_id = seed.account("shopify")
        task_id = seed.task(account_id)
        with held(holder, "SELECT * FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task_id) as owner:
            answer = in_thread(lambda: commanding.pause(account_id))
            until_lock_waits(watcher)
            with owner.cursor() as cursor:
                cursor.execute("UPDATE accounts SET size = 5 WHERE account_id = %s", (account_id,))
        assert answer.result(DEADLINE_SECONDS).task_state is TaskState.HELD
        assert database.retries == {}

    def test_a_task_that_ended_while_the_pause_waited_stays_ended(
        self, commanding: Commanding, seed: Seed, clock: Clock, holder: Connection, watcher: Connection
    ) -> None:
        account_id = seed.account("shopify")
        task_id = seed.task(account_id)
        with held(
            holder, "UPDATE crawl_tasks SET state = 'cancelled', ended_at = %s WHERE task_id = %s", START, task_id
        ):
            answer = in_thread(lambda: commanding.pause(account_id))
            until_lock_waits(watcher)
        standing = answer.result(DEADLINE_SECONDS)
        assert (standing.paused, standing.task_state) == (True, None)
        assert seed.row("crawl_tasks")["state"] == "cancelled"

    def test_a_task_that_was_planned_meanwhile_does_not_run(
        self, commanding: Commanding, acting: Acting, seed: Seed, clock: Clock
    ) -> None:
        account_id = seed.account("shopify")
        boot_id = seed.server("server-a")
        commanding.pause(account_id)
        seed.task(account_id, "queued")
        assert acting.acquire("server-a", boot_id) is None
        assert seed.row("crawl_tasks")["state"] == "held"
        assert commanding.resume(account_id, row_version=2).task_state is TaskState.QUEUED
        assert acting.acquire("server-a", boot_id, 2) is not None

    def test_a_resume_reads_the_clock_after_its_wait(
        self, commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        eligible_at = seed.now() + seconds(0.5)
        account_id = seed.account("shopify", paused=True)
        task_id = seed.task(account_id, "held", eligible_at=eligible_at)
        with held(holder, "SELECT * FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task_id):
            answer = in_thread(lambda: commanding.resume(account_id))
            until_lock_waits(watcher)
            assert seed.now() < eligible_at, "the machine was too slow for this test"
            until_passed(watcher, eligible_at)
        assert answer.result(DEADLINE_SECONDS).task_state is TaskState.QUEUED
