"""Orders: what every answer to a task's owner asks of it, and how long its lease is now."""

from dataclasses import dataclass

from coordinator.database import Transaction
from coordinator.tasks import Task


@dataclass(frozen=True)
class Orders:
    """``cancel``: let the task go; ``yield_`` and ``drain``: let it go at the next page boundary.

    ``credentials_version`` tells the owner that its credentials were changed meanwhile; None when there are none.
    """

    lease_remaining_seconds: float
    cancel: bool
    yield_: bool
    drain: bool
    credentials_version: int | None


def read(tx: Transaction, task: Task, lease_seconds: float) -> Orders:
    """The orders to the owner of a locked task whose lease was just extended by ``lease_seconds``.

    Server and credentials are read without locks: an order that comes one answer later is early enough.
    """
    row = tx.one("task_read_orders", server_id=task.server_id, account_id=task.account_id) or {}
    return Orders(
        lease_remaining_seconds=lease_seconds,
        cancel=task.cancel_requested,
        yield_=task.yield_requested,
        drain=bool(row.get("draining")),
        credentials_version=row.get("credentials_version"),
    )
