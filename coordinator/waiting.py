"""Sending a running task back to wait: its slot is free, its checkpoint, key and batches stay."""

from dataclasses import dataclass
from datetime import datetime

from coordinator import seats
from coordinator.database import Transaction
from coordinator.tasks import Task
from shared.states import TaskState


@dataclass(frozen=True)
class Failure:
    """Why an acquisition ended badly: a stable code, and a message for people."""

    code: str
    message: str


@dataclass(frozen=True)
class Waiting:
    """Where a task waits now; ``eligible_at`` when it must not run before."""

    state: TaskState
    eligible_at: datetime | None


def send_back(
    tx: Transaction,
    task: Task,
    *,
    attempts: int,
    eligible_at: datetime | None = None,
    failure: Failure | None = None,
) -> Waiting:
    """End the acquisition of a locked running task and let it wait: queued, or delayed until ``eligible_at``.

    Where the account was paused meanwhile the task is held instead. The account is looked at under its lock, so a
    pause either sees the task waiting, or is seen here.
    """
    state = TaskState.QUEUED if eligible_at is None else TaskState.DELAYED
    tx.execute(
        "task_send_back",
        task_id=task.task_id,
        state=state.value,
        eligible_at=eligible_at,
        attempts=attempts,
        error_code=failure and failure.code,
        error_message=failure and failure.message,
    )
    seats.free(tx, task.task_id)
    account = tx.one("outcome_share_account", account_id=task.account_id)
    if account is not None and account["paused"]:
        tx.execute("task_hold", task_id=task.task_id)
        state = TaskState.HELD
    return Waiting(state, eligible_at)


def open_epoch(tx: Transaction, task: Task) -> int:
    """Start the crawl of a locked task again from page one; returns the new epoch's number.

    What the earlier epochs made durable stays. Records may have moved between the two readings, so the enumeration
    is a guess from now on.
    """
    tx.execute("task_open_epoch", task_id=task.task_id)
    return task.epoch + 1
