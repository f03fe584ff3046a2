"""Accounts: an operator pauses one, and lets it go on again.

A verb that starts from an account finds its task without a lock, locks the task, and the account after it. A task that
is planned in between is held by the acquire that would start it.
"""

from dataclasses import dataclass
from datetime import datetime

from coordinator import audit, events, tasks
from coordinator.audit import Actor
from coordinator.database import Row, Transaction
from coordinator.tasks import Task
from shared.problems import NotFound, RowVersionConflict
from shared.states import ACTIVE_STATES, TaskState

_WAITING = frozenset({TaskState.QUEUED, TaskState.DELAYED})


@dataclass(frozen=True)
class Standing:
    """How an account stands after an operator's verb; ``task_state`` is None where it has no active task."""

    account_id: int
    paused: bool
    row_version: int
    task_state: TaskState | None


def pause(tx: Transaction, account_id: int, row_version: int, actor: Actor) -> Standing:
    """Stop planning and starting crawls of an account: its waiting task is held, a running one goes on.

    An account that is paused already stays as it is. Raises ``NotFound``, and ``RowVersionConflict`` when the account
    has changed since the operator saw ``row_version``.
    """
    task = _lock_active_task(tx, account_id)
    account = _lock_account(tx, account_id, row_version)
    if account["paused"]:
        return Standing(account_id, paused=True, row_version=row_version, task_state=_state(task))
    state = _state(task)
    if task is not None and task.state in _WAITING:
        tx.execute("task_hold", task_id=task.task_id)
        events.of_task(tx, "held", task, tx.now())
        state = TaskState.HELD
    return _set_paused(tx, account_id, row_version, state, actor, paused=True)


def resume(tx: Transaction, account_id: int, row_version: int, actor: Actor) -> Standing:
    """Let a paused account be crawled again: its held task is queued, or delayed while its time has not come.

    An account that is not paused stays as it is. Raises what ``pause`` raises.
    """
    task = _lock_active_task(tx, account_id)
    account = _lock_account(tx, account_id, row_version)
    if not account["paused"]:
        return Standing(account_id, paused=False, row_version=row_version, task_state=_state(task))
    state = _state(task)
    if task is not None and task.state is TaskState.HELD:
        now = tx.now()
        state = _state_after_hold(task, now)
        tx.execute("task_unhold", task_id=task.task_id, state=state, now=now)
        events.of_task(tx, "resumed", task, now)
    return _set_paused(tx, account_id, row_version, state, actor, paused=False)


def _state(task: Task | None) -> TaskState | None:
    return None if task is None else task.state


def _state_after_hold(task: Task, now: datetime) -> TaskState:
    return TaskState.DELAYED if task.eligible_at is not None and now < task.eligible_at else TaskState.QUEUED


def _lock_active_task(tx: Transaction, account_id: int) -> Task | None:
    """The account's active task, locked; None when it has none, or it has just ended."""
    row = tx.one("task_find_active", account_id=account_id)
    if row is None:
        return None
    try:
        task = tasks.lock(tx, row["task_id"])
    except NotFound:
        return None
    return task if task.state in ACTIVE_STATES else None


def _lock_account(tx: Transaction, account_id: int, row_version: int) -> Row:
    account = tx.one("account_lock", account_id=account_id)
    if account is None:
        raise NotFound(f"There is no account {account_id}")
    if account["row_version"] != row_version:
        raise RowVersionConflict(
            f"Account {account_id} has changed since version {row_version}: look at it again",
            row_version=account["row_version"],
        )
    return account


def _set_paused(
    tx: Transaction, account_id: int, row_version: int, state: TaskState | None, actor: Actor, *, paused: bool
) -> Standing:
    tx.execute("account_set_paused", account_id=account_id, paused=paused)
    action = "account.pause" if paused else "account.resume"
    audit.record(tx, actor, action, f"account:{account_id}", {"before": not paused, "after": paused})
    return Standing(account_id, paused, row_version + 1, state)
