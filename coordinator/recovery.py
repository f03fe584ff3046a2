"""Recovery: what a vanished owner held goes back to the queue, and delayed tasks wake when they are due.

Anybody may do it, at any time and several at once: each row is judged again under its own lock. So a crashed server's
tasks do not wait for a leader.
"""

from dataclasses import dataclass
from datetime import datetime

from coordinator import endings, events, seats, tasks, waiting
from coordinator.database import Database, Transaction
from coordinator.tasks import Task
from coordinator.waiting import Failure
from shared.policy import Policy
from shared.states import ENDED_STATES, TaskState

SWEEP_LIMIT = 5
NO_PROGRESS = "no_progress"


@dataclass(frozen=True)
class Swept:
    """How many tasks one sweep took from owners whose lease had ended, and how many delayed ones it woke."""

    recovered: int
    woken: int


def sweep(database: Database, policy: Policy, limit: int = SWEEP_LIMIT) -> Swept:
    """Recover at most ``limit`` tasks and wake as many, each recovery in a transaction of its own.

    Opens its own transactions: call it outside of any. Where there is nothing to do it costs two indexed reads.
    """
    expired, due = database.transaction(lambda tx: _candidates(tx, limit))
    recovered = sum(_recover_in_transaction(database, policy, task_id) for task_id in expired)
    woken = database.transaction(lambda tx: wake(tx, due)) if due else 0
    return Swept(recovered, woken)


def recover(tx: Transaction, policy: Policy, task_id: int) -> bool:
    """Take a task from its owner if its lease has ended; whether it did.

    The lease, which only a running task has, is judged anew under the task's lock: since the caller looked, the owner
    may have renewed it or another recovery been faster. A row that somebody holds is left alone: its holder is about
    to change it.
    """
    task = tasks.lock_if_free(tx, task_id)
    now = tx.now()
    if task is None or task.lease_expires_at is None or now < task.lease_expires_at:
        return False
    _take_away(tx, policy, task, now, "expired")
    return True


def requeue_boot(tx: Transaction, policy: Policy, server_id: str, now: datetime) -> int:
    """Take all running tasks from a server whose boot is gone, leases or not; returns how many.

    The caller holds the server's row, so nothing is acquired for it meanwhile.
    """
    held = [tasks.lock(tx, row["task_id"]) for row in tx.all("slot_list_tasks", server_id=server_id)]
    running = [task for task in held if task.state is TaskState.RUNNING and task.server_id == server_id]
    for task in running:
        _take_away(tx, policy, task, now, "requeued")
    return len(running)


def wake(tx: Transaction, task_ids: list[int]) -> int:
    """Queue those of the delayed tasks whose time has come; returns how many.

    An instant from before the wait for a lock does no harm here: it only leaves a task asleep for another sweep.
    """
    return tx.execute("task_wake", task_ids=sorted(task_ids), now=tx.now())


def free_stray_slots(tx: Transaction) -> int:
    """Free slots that still name a task that does not run in them; returns how many there were.

    No rule of the database forbids such a slot, and no path of the code leaves one: it is a fault to be told.
    """
    freed = 0
    for row in tx.all("slot_list_stray"):
        task = tasks.lock(tx, row["task_id"])
        if task.state is TaskState.RUNNING and task.server_id == row["server_id"]:
            continue
        seats.free(tx, task.task_id)
        events.record(tx, "slot_was_stray", tx.now(), task_id=task.task_id, server_id=row["server_id"])
        freed += 1
    return freed


def _recover_in_transaction(database: Database, policy: Policy, task_id: int) -> bool:
    return database.transaction(lambda tx: recover(tx, policy, task_id))


def _take_away(tx: Transaction, policy: Policy, task: Task, now: datetime, kind: str) -> None:
    """End an acquisition that its owner did not end: cancelled where asked for, failed after too many, else queued."""
    attempts = task.attempts_at_end
    if task.cancel_requested:
        endings.cancel(tx, task, now)
        state = TaskState.CANCELLED
    elif attempts >= policy.max_attempts:
        failure = Failure(NO_PROGRESS, f"{attempts} acquisitions in a row ended without a new page")
        endings.fail(tx, policy, task, now, attempts=attempts, failure=failure)
        state = TaskState.FAILED
    else:
        state = waiting.send_back(tx, task, attempts=attempts).state
    events.of_task(tx, kind, task, now, state=state, attempts=attempts, current_page=task.checkpoint.current_page)
    if state in ENDED_STATES:
        events.of_task(tx, state.value, task, now)


def _candidates(tx: Transaction, limit: int) -> tuple[list[int], list[int]]:
    now = tx.now()
    return _ids(tx, "task_list_expired", now, limit), _ids(tx, "task_list_due", now, limit)


def _ids(tx: Transaction, query: str, now: datetime, limit: int) -> list[int]:
    return [row["task_id"] for row in tx.all(query, now=now, limit=limit)]
