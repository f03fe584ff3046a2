"""Who did what: entries that are written in the transaction of the deed, and never changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from coordinator.database import Transaction


@dataclass(frozen=True)
class Actor:
    """Who acts: a key's owner, or a program and its user; ``request_id`` finds the request's log lines."""

    name: str
    request_id: str | None = None


def record(tx: Transaction, actor: Actor, action: str, subject: str, detail: Mapping[str, Any]) -> None:
    """Write one entry: ``action`` such as ``account.pause``, ``subject`` such as ``account:7``.

    ``detail`` holds before and after and nothing secret.
    """
    tx.execute(
        "audit_insert",
        actor=actor.name[:64],
        action=action,
        subject=subject[:128],
        detail=msgspec.json.encode(detail).decode(),
        request_id=actor.request_id,
        now=tx.now(),
    )
