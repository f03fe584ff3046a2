"""The code under test as servers, Chief and operators use it: each call is one transaction, by one policy."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec

from coordinator import accounts, fleet, housekeeping, leadership, planning
from coordinator.accounts import Standing
from coordinator.audit import Actor
from coordinator.capabilities import Capability
from coordinator.database import Database
from coordinator.fleet import Heard, Registration, Telemetry
from coordinator.housekeeping import Tidied
from coordinator.leadership import Leadership
from coordinator.planning import Candidates, Plan, Planned, PlannedTask
from shared.policy import DEFAULT, Policy
from shared.states import SizeClass
from tests.integration.seed import CURSOR_FORMAT

OPERATOR = Actor("operator-1", "request-1")
TELEMETRY = Telemetry(cpu_percent=12.5, rss_bytes=80_000_000, running_tasks=2)


@dataclass(frozen=True)
class Chief:
    """A boot that claims a term."""

    server_id: str
    boot_id: uuid.UUID
    fencing_token: int = 1


@dataclass(frozen=True)
class Daemon:
    """One start of a server's daemon, and what it says of itself."""

    server_id: str = "server-a"
    boot_id: uuid.UUID = field(default_factory=uuid.uuid4)
    machine_id: str = "machine-1"
    capabilities: tuple[Capability, ...] = ()

    @classmethod
    def crawling(cls, *marketplaces: str, **members: Any) -> Daemon:
        """A daemon that can crawl these marketplaces."""
        return cls(capabilities=tuple(Capability(code, CURSOR_FORMAT) for code in marketplaces), **members)

    def restarted(self, **members: Any) -> Daemon:
        """The same daemon, started afresh."""
        return replace(self, boot_id=uuid.uuid4(), **members)


@dataclass
class Commanding:
    """Calls of the cluster's own business on one database."""

    database: Database
    policy: Policy = DEFAULT

    def with_policy(self, **changes: Any) -> Commanding:
        """The same under a policy with these members changed."""
        return replace(self, policy=msgspec.structs.replace(self.policy, **changes))

    # -- leadership

    def read(self) -> Leadership:
        return self.database.transaction(lambda tx: leadership.read(tx, self.policy))

    def campaign(self, server_id: str, boot_id: uuid.UUID) -> Leadership:
        return self.database.transaction(lambda tx: leadership.campaign(tx, self.policy, server_id, boot_id))

    def elect(self, server_id: str, boot_id: uuid.UUID) -> Chief:
        """Campaign, and insist on being elected."""
        answer = self.campaign(server_id, boot_id)
        assert answer.elected, answer
        return Chief(server_id, boot_id, answer.fencing_token)

    def renew(self, chief: Chief) -> Leadership:
        return self.database.transaction(lambda tx: leadership.heartbeat(tx, self.policy, **_members(chief)))

    def resign(self, chief: Chief) -> Leadership:
        return self.database.transaction(lambda tx: leadership.resign(tx, self.policy, **_members(chief)))

    # -- fleet

    def register(self, daemon: Daemon) -> datetime:
        registration = Registration(
            daemon.server_id, daemon.boot_id, daemon.machine_id, "host.test", "0.1.0", daemon.capabilities
        )
        return self.database.transaction(lambda tx: fleet.register(tx, self.policy, registration))

    def heartbeat(self, server_id: str, boot_id: uuid.UUID, telemetry: Telemetry = TELEMETRY) -> Heard:
        return self.database.transaction(lambda tx: fleet.heartbeat(tx, self.policy, server_id, boot_id, telemetry))

    def deregister(self, server_id: str, boot_id: uuid.UUID) -> None:
        self.database.transaction(lambda tx: fleet.deregister(tx, self.policy, server_id, boot_id))

    def active_servers(self) -> int:
        return self.database.transaction(lambda tx: fleet.active_servers(tx, self.policy, tx.now()))

    # -- the Chief's work

    def candidates(self, limit: int = 100) -> Candidates:
        return self.database.transaction(lambda tx: planning.candidates(tx, self.policy, limit))

    def plan(self, chief: Chief, tasks: Sequence[PlannedTask], plan_id: uuid.UUID | None = None) -> Planned:
        plan = Plan(**_members(chief), plan_id=plan_id or uuid.uuid4(), tasks=tasks)
        return self.database.transaction(lambda tx: planning.submit(tx, self.policy, plan))

    def tidy(self, chief: Chief) -> Tidied:
        return self.database.transaction(lambda tx: housekeeping.run(tx, self.policy, **_members(chief)))

    # -- operators

    def pause(self, account_id: int, row_version: int = 1) -> Standing:
        return self.database.transaction(lambda tx: accounts.pause(tx, account_id, row_version, OPERATOR))

    def resume(self, account_id: int, row_version: int = 1) -> Standing:
        return self.database.transaction(lambda tx: accounts.resume(tx, account_id, row_version, OPERATOR))


def planned(account_id: int, due_at: datetime, size: int | None = None, **members: Any) -> PlannedTask:
    """A task as the Chief plans it: its key is its due time unless another is given."""
    size_class = SizeClass.PROBE if size is None else SizeClass.SMALL
    defaults = {"size_class": size_class, "dispatch_key": due_at}
    return PlannedTask(account_id=account_id, due_at=due_at, size=size, **{**defaults, **members})


def _members(chief: Chief) -> dict[str, Any]:
    return {"server_id": chief.server_id, "boot_id": chief.boot_id, "fencing_token": chief.fencing_token}
