"""Events: what happened to tasks, servers and the leadership, for the people who ask why."""

from datetime import datetime
from typing import Any

import msgspec

from coordinator.database import Transaction
from coordinator.tasks import Task


def record(
    tx: Transaction,
    kind: str,
    now: datetime,
    *,
    task_id: int | None = None,
    server_id: str | None = None,
    fencing_token: int | None = None,
    **detail: Any,
) -> None:
    """Write one event in the transaction of what it tells.

    ``kind`` is a word in the past tense such as ``acquired``; ``detail`` is anything that JSON can hold and nothing
    secret.
    """
    tx.execute(
        "event_insert",
        task_id=task_id,
        kind=kind,
        server_id=server_id,
        fencing_token=fencing_token,
        detail=msgspec.json.encode(detail).decode(),
        now=now,
    )


def of_task(tx: Transaction, kind: str, task: Task, now: datetime, **detail: Any) -> None:
    """Write an event of a locked task, with the owner and token that it had when it was locked."""
    record(
        tx,
        kind,
        now,
        task_id=task.task_id,
        server_id=task.server_id,
        fencing_token=task.fencing_token or None,
        **detail,
    )
