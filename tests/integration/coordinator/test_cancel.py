"""Cancelling: a waiting task ends at once, a running one when its owner has let it go."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from coordinator.outcomes import Outcome
from shared.problems import NotFound, TaskEnded
from shared.states import TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits


@pytest.mark.parametrize("state", ["queued", "delayed", "held"])
def test_a_waiting_task_ends_at_once(
    acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None], state: str
) -> None:
    account_id = seed.account("shopify")
    task_id = seed.task(account_id, state)
    assert acting.cancel(task_id) == Outcome(TaskState.CANCELLED)
    task = seed.row("crawl_tasks", task_id=task_id)
    assert (task["state"], task["ended_at"], task["eligible_at"]) == ("cancelled", START, None)
    account = seed.row("accounts", account_id=account_id)
    assert account["next_due_at"] == START + seconds(account["refresh_interval_seconds"])
    assert seed.count("task_events", task_id=task_id, kind="cancelled") == 1
    sound()


def test_a_running_task_is_only_marked(acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]) -> None:
    crawl = running(seed)
    assert acting.cancel(crawl.task_id) == Outcome(TaskState.RUNNING)
    assert acting.cancel(crawl.task_id) == Outcome(TaskState.RUNNING)
    task = seed.row("crawl_tasks", task_id=crawl.task_id)
    assert (task["state"], task["cancel_requested"]) == ("running", 1)
    assert seed.count("server_slots", task_id=crawl.task_id) == 1, "its owner may still be crawling"
    assert acting.heartbeat(crawl.owner).cancel
    sound()


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled"])
def test_an_ended_task_stays_as_it_ended(acting: Acting, seed: Seed, state: str) -> None:
    task_id = seed.task(seed.account("shopify"), state)
    with pytest.raises(TaskEnded, match=state):
        acting.cancel(task_id)
    assert seed.count("audit_log") == 0


def test_a_task_that_is_not_there(acting: Acting) -> None:
    with pytest.raises(NotFound):
        acting.cancel(4711)


def test_it_is_audited(acting: Acting, seed: Seed) -> None:
    task_id = seed.task(seed.account("shopify"))
    acting.cancel(task_id)
    entry = seed.row("audit_log")
    assert (entry["actor"], entry["action"], entry["subject"]) == ("operator-1", "task.cancel", f"task:{task_id}")
    assert json.loads(entry["detail"]) == {"before": "queued", "after": "cancelled"}


def test_a_task_that_was_acquired_while_it_waited_is_only_marked(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    task_id = seed.task(seed.account("shopify"))
    boot_id = seed.server("server-a")
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task_id):
        answer = in_thread(lambda: acting.cancel(task_id))
        until_lock_waits(watcher)
        with holder.cursor() as cursor:
            cursor.execute(
                "UPDATE server_slots SET task_id = %s, marketplace_code = 'shopify', size_class = 'probe'"
                " WHERE server_id = 'server-a' AND slot_no = 1",
                (task_id,),
            )
            cursor.execute(
                "UPDATE crawl_tasks SET state = 'running', server_id = 'server-a', boot_id = %s, fencing_token = 1,"
                " acquired_at = UTC_TIMESTAMP(6), progress_at = UTC_TIMESTAMP(6),"
                " lease_expires_at = UTC_TIMESTAMP(6) + INTERVAL 60 SECOND WHERE task_id = %s",
                (boot_id.bytes, task_id),
            )
    assert answer.result(10) == Outcome(TaskState.RUNNING)
