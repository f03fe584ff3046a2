"""Ownership: every write of a task's owner proves that it still owns the task (I6)."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from coordinator import tasks
from coordinator.database import Transaction
from coordinator.tasks import Task
from shared.problems import StaleTaskOwner
from shared.states import TaskState


@dataclass(frozen=True)
class Owner:
    """Who claims to own a task: a server's boot, with the token of its acquisition."""

    task_id: int
    server_id: str
    boot_id: UUID
    fencing_token: int


@dataclass(frozen=True)
class Owned:
    """A task that is locked and whose owner was judged at ``now``, the instant from which a new lease counts."""

    task: Task
    now: datetime


def lock_owned(tx: Transaction, owner: Owner) -> Owned:
    """Lock the task, read the clock, judge the owner. Raises ``StaleTaskOwner`` and ``NotFound``."""
    task = tasks.lock(tx, owner.task_id)
    now = tx.now()
    require(owner, task, now)
    return Owned(task, now)


def require(owner: Owner, task: Task, now: datetime) -> None:
    """Judge the owner of a task that is locked, at a ``now`` read after its lock. Raises ``StaleTaskOwner``.

    The task's boot is its server's current one: registering a boot takes the tasks of the former boot away.
    """
    if why := _why_stale(owner, task, now):
        raise StaleTaskOwner(f"{why}: drop task {task.task_id} and acquire anew")


def owns(owner: Owner, task: Task, now: datetime) -> bool:
    """Whether the owner of a locked task still owns it, at a ``now`` read after its lock."""
    return _why_stale(owner, task, now) is None


def is_last_owner(owner: Owner, task: Task) -> bool:
    """Whether the task's latest acquisition is the owner's, ended or not."""
    return (task.server_id, task.boot_id, task.fencing_token) == (owner.server_id, owner.boot_id, owner.fencing_token)


def _why_stale(owner: Owner, task: Task, now: datetime) -> str | None:
    if task.state is not TaskState.RUNNING or task.lease_expires_at is None:
        return f"The task is {task.state.value}"
    if task.server_id != owner.server_id:
        return "The task runs on another server"
    if task.boot_id != owner.boot_id:
        return "The task runs on another boot of this server"
    if task.fencing_token != owner.fencing_token:
        return f"The task was acquired again, with fencing token {task.fencing_token}"
    if now >= task.lease_expires_at:
        return "The task's lease has ended"
    return None
