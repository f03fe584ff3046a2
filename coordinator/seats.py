"""Seats: a running task sits in a slot of its server, and the keys of the database hold both to it (I4).

To seat a task, write the slot first; to free it, write the task first. Slots are written by primary key only.
"""

from coordinator.database import Transaction
from coordinator.tasks import Task


def take(tx: Transaction, server_id: str, slot_no: int, task: Task) -> None:
    """Seat a claimed task in a free slot of a server whose row is locked."""
    taken = tx.execute(
        "slot_take",
        server_id=server_id,
        slot_no=slot_no,
        task_id=task.task_id,
        marketplace_code=task.marketplace_code,
        size_class=task.size_class.value,
    )
    if taken != 1:
        raise RuntimeError(f"slot {slot_no} of {server_id} is not free, although its server is locked")


def free(tx: Transaction, task_id: int) -> None:
    """Free the slot of a task that is locked and no longer running; none, when it has none."""
    seat = tx.one("slot_find", task_id=task_id)
    if seat is not None:
        tx.execute("slot_free", server_id=seat["server_id"], slot_no=seat["slot_no"], task_id=task_id)
