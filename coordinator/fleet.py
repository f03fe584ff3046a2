"""The fleet: servers register, are heard of, and leave; who is active makes N.

The server's row is locked first; its capabilities, its tasks and its slots follow, in that order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from coordinator import boots, capabilities, capacity, events, leadership, recovery
from coordinator.boots import Server
from coordinator.capabilities import Capability
from coordinator.database import Transaction
from shared.policy import Policy
from shared.problems import BootSuperseded, ServerIdInUse
from shared.states import TermEnd

IN_USE_SECONDS = 30


@dataclass(frozen=True)
class Registration:
    """What a daemon says of itself when it starts; ``boot_id`` is new with each start, ``machine_id`` is not."""

    server_id: str
    boot_id: UUID
    machine_id: str
    hostname: str
    version: str
    capabilities: Sequence[Capability]


@dataclass(frozen=True)
class Telemetry:
    """What a daemon measured of itself; ``cpu_percent`` is of one core."""

    cpu_percent: float
    rss_bytes: int
    running_tasks: int


@dataclass(frozen=True)
class Heard:
    """The answer to a server's heartbeat: whether it is to drain, and the time."""

    drain: bool
    now: datetime


def register(tx: Transaction, policy: Policy, registration: Registration) -> datetime:
    """Make a boot its server's current one and return now; the former boot's tasks go back to the queue at once.

    The same boot again is answered alike. The leadership is left alone: the new boot campaigns for it.
    Raises ``InvalidInput`` for a marketplace that is not known, ``ServerIdInUse`` when another machine has been heard
    of under this name less than 30 s ago, ``BootSuperseded`` for a boot that another has replaced, and
    ``ServerNotRegistered`` for one that has deregistered.
    """
    capabilities.require_known(tx, registration.capabilities)
    server, is_new = _lock_or_insert(tx, registration)
    now = tx.now()
    _require_may_register(tx, server, registration, now)
    if is_new or server.boot_id != registration.boot_id:
        _replace_boot(tx, registration, now)
    else:
        tx.execute("server_touch", server_id=server.server_id, now=now)
    capabilities.grant(tx, server.server_id, registration.capabilities)
    if server.boot_id != registration.boot_id:
        requeued = recovery.requeue_boot(tx, policy, server.server_id, now)
        _record(tx, "boot_superseded", server.server_id, server.boot_id, now, tasks_requeued=requeued)
    capacity.follow_policy(tx, server.server_id, policy.slots_per_server)
    capabilities.withdraw(tx, server.server_id, registration.capabilities)
    return now


def heartbeat(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID, telemetry: Telemetry) -> Heard:
    """Note that a server is alive and what it measured; its slots follow the policy.

    Telemetry that comes faster than every half of the heartbeat interval is not kept.
    Raises ``ServerNotRegistered`` and ``BootSuperseded``.
    """
    server = boots.require_current(boots.lock(tx, server_id), boot_id)
    now = tx.now()
    tx.execute("server_touch", server_id=server_id, now=now)
    tx.execute(
        "sample_insert",
        server_id=server_id,
        boot_id=boot_id,
        now=now,
        cpu_percent=telemetry.cpu_percent,
        rss_bytes=telemetry.rss_bytes,
        running_tasks=telemetry.running_tasks,
        not_after=now - timedelta(seconds=policy.server_heartbeat_seconds / 2),
    )
    capacity.follow_policy(tx, server_id, policy.slots_per_server)
    return Heard(server.draining, now)


def deregister(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID) -> None:
    """Let a server go: the leadership and the tasks that it still has are free at once. Repeats change nothing.

    The leadership row is locked whether or not the server leads: an election of this boot may be under way.
    Raises ``ServerNotRegistered`` when no boot ever registered, and ``BootSuperseded``.
    """
    lease = leadership.lock(tx)
    server = boots.lock(tx, server_id)
    if server is None or server.boot_id != boot_id or server.deregistered_at is None:
        boots.require_current(server, boot_id)
    else:
        return
    now = tx.now()
    if lease.tenure is not None and lease.tenure.server_id == server_id:
        leadership.free(tx, lease.fencing_token, lease.tenure, TermEnd.DEREGISTERED, now)
    tx.execute("server_deregister", server_id=server_id, now=now)
    requeued = recovery.requeue_boot(tx, policy, server_id, now)
    _record(tx, "server_deregistered", server_id, boot_id, now, tasks_requeued=requeued)


def active_servers(tx: Transaction, policy: Policy, now: datetime) -> int:
    """N: the servers that have been heard of within the liveness interval and neither drain nor have left."""
    heard_after = now - timedelta(seconds=policy.server_liveness_seconds)
    row = tx.one("server_count_active", heard_after=heard_after)
    return 0 if row is None else int(row["active_servers"])


def _lock_or_insert(tx: Transaction, registration: Registration) -> tuple[Server, bool]:
    """The server's row, locked, and whether there was none; of two first registrations the later waits here."""
    server = boots.lock(tx, registration.server_id)
    if server is not None:
        return server, False
    tx.execute(
        "server_insert",
        server_id=registration.server_id,
        boot_id=registration.boot_id,
        machine_id=registration.machine_id,
        hostname=registration.hostname,
        version=registration.version,
        now=tx.now(),
    )
    server = boots.lock(tx, registration.server_id)
    if server is None:
        raise RuntimeError(f"the row of {registration.server_id} was inserted and is not there")
    return server, server.boot_id == registration.boot_id


def _require_may_register(tx: Transaction, server: Server, registration: Registration, now: datetime) -> None:
    if server.boot_id == registration.boot_id:
        boots.require_current(server, registration.boot_id)
        return
    if tx.one("event_find_superseded", server_id=server.server_id, boot_id=str(registration.boot_id)):
        raise BootSuperseded(f"Another boot of {server.server_id} replaced this one: exit, and do not register again")
    heard_of = server.last_heartbeat_at + timedelta(seconds=IN_USE_SECONDS)
    if server.deregistered_at is None and server.machine_id != registration.machine_id and now < heard_of:
        raise ServerIdInUse(
            f"{server.server_id} runs on machine {server.machine_id}: give this machine another server_id,"
            f" or stop the other daemon and try again",
            retry_after_seconds=(heard_of - now).total_seconds(),
        )


def _replace_boot(tx: Transaction, registration: Registration, now: datetime) -> None:
    tx.execute(
        "server_register",
        server_id=registration.server_id,
        boot_id=registration.boot_id,
        machine_id=registration.machine_id,
        hostname=registration.hostname,
        version=registration.version,
        now=now,
    )
    _record(tx, "registered", registration.server_id, registration.boot_id, now, version=registration.version)


def _record(tx: Transaction, kind: str, server_id: str, boot_id: UUID, now: datetime, **detail: Any) -> None:
    events.record(tx, kind, now, server_id=server_id, boot_id=str(boot_id), **detail)
