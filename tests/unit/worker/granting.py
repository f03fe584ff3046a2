"""Grants and answers of the coordinator, as tests of the worker need them."""

from __future__ import annotations

from typing import Any

from worker.connectors.seam import Account
from worker.identity import Identity
from worker.running_task import Checkpoint, Grant

IDENTITY = Identity("server-1", "00000000-0000-4000-8000-000000000001", "machine", "host")


class Clock:
    """A monotonic clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def grant(
    checkpoint: Checkpoint | None = None,
    *,
    task_id: int = 7,
    last_batch_no: int = 0,
    guessed: bool = False,
    size: int | None = None,
) -> Grant:
    return Grant(
        task_id=task_id,
        fencing_token=3,
        marketplace_code="example",
        account=Account("shop-1", {}, {"key": "secret"}),
        account_size=size,
        credentials_version=1,
        checkpoint=checkpoint or Checkpoint(0, None, 0, None),
        last_batch_no=last_batch_no,
        guessed=guessed,
    )


def orders(**given: Any) -> dict[str, Any]:
    """An answer to a task's owner."""
    usual = {
        "lease_remaining_seconds": 60.0,
        "cancel": False,
        "yield": False,
        "drain": False,
        "credentials_version": 1,
    }
    return {**usual, **given}
