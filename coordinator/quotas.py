"""Quotas: how many tasks of a marketplace may run, and how many large ones, counted from the slots (I5)."""

from dataclasses import dataclass
from decimal import Decimal

from coordinator import fleet
from coordinator.database import Transaction
from shared import scheduling
from shared.policy import Policy
from shared.states import SizeClass


@dataclass(frozen=True)
class Room:
    """What runs of a marketplace and what may run, with ``active_servers`` (N) as it was counted."""

    active_servers: int
    quota: int
    running_count: int
    large_cap: int
    large_count: int

    def admits(self, size_class: SizeClass) -> bool:
        """Whether one more task of that class may start. Where N shrank below what runs, nothing may."""
        if self.running_count >= self.quota:
            return False
        return size_class is not SizeClass.LARGE or self.large_count < self.large_cap

    def with_one(self, size_class: SizeClass) -> "Room":
        """The same after one more task of that class has started."""
        large_count = self.large_count + (size_class is SizeClass.LARGE)
        return Room(self.active_servers, self.quota, self.running_count + 1, self.large_cap, large_count)


def room(quota_per_server: Decimal, active_servers: int, running_count: int, large_count: int) -> Room:
    """The room that a marketplace has when so much of it runs."""
    quota = scheduling.quota(quota_per_server, active_servers)
    return Room(active_servers, quota, running_count, scheduling.large_cap(quota), large_count)


def count(tx: Transaction, policy: Policy, marketplace_code: str, quota_per_server: Decimal) -> Room:
    """Count a marketplace's room anew; the caller holds its row, so nothing of it starts meanwhile.

    The snapshot is this statement's own (READ COMMITTED): what others seated before the lock was had is counted.
    """
    active_servers = fleet.active_servers(tx, policy, tx.now())
    running = tx.one("claim_count_running", marketplace_code=marketplace_code) or {}
    return room(quota_per_server, active_servers, running["running_count"], running["large_count"])
