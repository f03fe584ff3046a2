"""The policy of the cluster, changed as an operator changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator import policies
from coordinator.audit import Actor
from coordinator.database import Database

SetPolicy = Callable[..., None]


def policy_setter(database: Database) -> SetPolicy:
    """``set_policy(leader_lease_seconds=200)``: in force from the next request on."""

    def change(**members: Any) -> None:
        database.transaction(lambda tx: policies.change(tx, members, Actor("ann"), tx.now()))

    return change
