"""Endings other than completion: a task fails or is cancelled, and its account is due again when it should be.

The caller holds the task's lock and writes the event.
"""

from datetime import datetime, timedelta

from coordinator import seats
from coordinator.database import Transaction
from coordinator.tasks import Task
from coordinator.waiting import Failure
from shared.policy import Policy
from shared.scheduling import cooldown_seconds

_MOST_FAILURES = 65_535


def cancel(tx: Transaction, task: Task, now: datetime) -> None:
    """End a locked task as cancelled, running or waiting; its account is due again after its refresh interval."""
    tx.execute("task_cancel", task_id=task.task_id, now=now)
    seats.free(tx, task.task_id)
    tx.execute("outcome_account_cancelled", account_id=task.account_id, now=now)


def fail(tx: Transaction, policy: Policy, task: Task, now: datetime, *, attempts: int, failure: Failure) -> None:
    """End a locked running task as failed; its account is due again after a cool-down that doubles each time."""
    _end_failed(tx, task, now, attempts, failure)
    account = tx.one("outcome_lock_account", account_id=task.account_id)
    if account is None:
        raise RuntimeError(f"task {task.task_id} has no account")
    failures = account["consecutive_failures"] + 1
    seconds = cooldown_seconds(failures, policy.failure_cooldown_seconds, account["refresh_interval_seconds"])
    tx.execute(
        "outcome_account_failed",
        account_id=task.account_id,
        consecutive_failures=min(failures, _MOST_FAILURES),
        next_due_at=now + timedelta(seconds=seconds),
    )


def suspend(tx: Transaction, task: Task, now: datetime, *, attempts: int, failure: Failure) -> bool:
    """End a locked running task as failed for bad credentials; nothing of its account runs until they change.

    The account keeps its due time, so that new credentials are tried at once. False where they changed just now: then
    the account is not suspended.
    """
    _end_failed(tx, task, now, attempts, failure)
    suspended = tx.execute(
        "outcome_account_suspended", account_id=task.account_id, acquired_at=task.acquired_at, now=now
    )
    return suspended == 1


def _end_failed(tx: Transaction, task: Task, now: datetime, attempts: int, failure: Failure) -> None:
    tx.execute(
        "task_fail",
        task_id=task.task_id,
        now=now,
        attempts=attempts,
        error_code=failure.code,
        error_message=failure.message,
    )
    seats.free(tx, task.task_id)
