"""Release: a task goes back to the queue as it is, and its end is not held against it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from coordinator.outcomes import Outcome
from shared.problems import StaleTaskOwner
from shared.states import TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, batch, listing, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed


@pytest.mark.parametrize("reason", ["drain", "yield"])
def test_the_task_waits_with_key_checkpoint_and_attempts(
    acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None], reason: str
) -> None:
    crawl = running(seed, attempts=2, yield_requested=True, dispatch_key=START + seconds(77))
    acting.flush(crawl.owner, 1, batch([listing("a")], page=0, processed=0, token="in-page-1"))
    assert acting.release(crawl.owner, reason) == Outcome(TaskState.QUEUED)
    task = seed.row("crawl_tasks", task_id=crawl.task_id)
    assert (task["state"], task["attempts"], task["yield_requested"]) == ("queued", 2, 0)
    assert (task["dispatch_key"], task["last_cursor_token"]) == (START + seconds(77), "in-page-1")
    assert (task["server_id"], task["boot_id"], task["lease_expires_at"]) == (None, None, None)
    assert seed.count("server_slots", task_id=crawl.task_id) == 0
    assert seed.count("task_events", task_id=crawl.task_id, kind="released") == 1
    sound()


def test_it_can_be_acquired_again_at_once(acting: Acting, seed: Seed, clock: Clock) -> None:
    crawl = running(seed)
    acting.release(crawl.owner)
    grant = acting.acquire("server-a", crawl.owner.boot_id)
    assert grant is not None
    assert (grant.task_id, grant.fencing_token) == (crawl.task_id, 2)


def test_it_is_held_where_the_account_was_paused_meanwhile(acting: Acting, seed: Seed) -> None:
    crawl = running(seed)
    seed.update("accounts", {"account_id": crawl.account_id}, paused=True)
    assert acting.release(crawl.owner) == Outcome(TaskState.HELD)
    assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "held"


def test_a_pause_that_holds_the_account_is_waited_for(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed)
    with held(holder, "UPDATE accounts SET paused = TRUE WHERE account_id = %s", crawl.account_id):
        answer = in_thread(lambda: acting.release(crawl.owner))
        until_lock_waits(watcher)
    assert answer.result(10) == Outcome(TaskState.HELD)


def test_a_task_to_be_cancelled_is_cancelled(
    acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
) -> None:
    crawl = running(seed, cancel_requested=True)
    assert acting.release(crawl.owner) == Outcome(TaskState.CANCELLED)
    account = seed.row("accounts", account_id=crawl.account_id)
    assert account["next_due_at"] == START + seconds(account["refresh_interval_seconds"])
    assert seed.count("task_events", task_id=crawl.task_id, kind="cancelled") == 1
    sound()


def test_a_stale_owner_frees_nothing(acting: Acting, seed: Seed) -> None:
    crawl = running(seed)
    seed.update("crawl_tasks", {"task_id": crawl.task_id}, fencing_token=2)
    for owner in (crawl.owner, replace(crawl.owner, fencing_token=3)):
        with pytest.raises(StaleTaskOwner):
            acting.release(owner)
    assert seed.count("server_slots", task_id=crawl.task_id) == 1


@pytest.mark.parametrize(("after", "accepted"), [("59.999999", True), ("60.000000", False)])
def test_the_lease_must_run(acting: Acting, seed: Seed, clock: Clock, after: str, *, accepted: bool) -> None:
    crawl = running(seed)
    clock.advance(seconds=after)
    if accepted:
        assert acting.release(crawl.owner) == Outcome(TaskState.QUEUED)
    else:
        with pytest.raises(StaleTaskOwner):
            acting.release(crawl.owner)


def test_a_release_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.release(crawl.owner))
        until_lock_waits(watcher)
        until_passed(watcher, seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"])
    assert isinstance(answer.exception(10), StaleTaskOwner)
    assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"
