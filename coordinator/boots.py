"""Boots: a server acts through its current boot only, the one that registered last."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from coordinator.database import Row, Transaction
from shared.problems import BootSuperseded, ServerDraining, ServerNotRegistered


@dataclass(frozen=True)
class Server:
    """A server's row as far as its boot and its place in the cluster are judged by it."""

    server_id: str
    boot_id: UUID
    machine_id: str
    last_heartbeat_at: datetime
    draining: bool
    deregistered_at: datetime | None


def read(tx: Transaction, server_id: str) -> Server | None:
    """The server, not locked: good for a refusal, never for a write."""
    return _server(tx.one("server_read", server_id=server_id))


def share(tx: Transaction, server_id: str) -> Server | None:
    """The server, locked against change: its boot stays the current one to the end of the transaction."""
    return _server(tx.one("server_share", server_id=server_id))


def lock(tx: Transaction, server_id: str) -> Server | None:
    """The server, locked to be changed."""
    return _server(tx.one("server_lock", server_id=server_id))


def require_current(server: Server | None, boot_id: UUID) -> Server:
    """The server, if that boot may speak for it. Raises ``ServerNotRegistered`` and ``BootSuperseded``."""
    if server is None:
        raise ServerNotRegistered("No boot of this server has registered: register first")
    if server.boot_id != boot_id:
        raise BootSuperseded(f"Another boot of {server.server_id} has registered: exit, and do not register again")
    if server.deregistered_at is not None:
        raise ServerNotRegistered(f"This boot of {server.server_id} has deregistered: start the daemon afresh")
    return server


def require_serving(server: Server | None, boot_id: UUID) -> Server:
    """The server, if that boot may take on something new. Raises ``ServerDraining`` besides."""
    current = require_current(server, boot_id)
    if current.draining:
        raise ServerDraining(f"{current.server_id} is draining: let go of what it has, and start afresh")
    return current


def _server(row: Row | None) -> Server | None:
    if row is None:
        return None
    return Server(
        server_id=row["server_id"],
        boot_id=UUID(bytes=row["boot_id"]),
        machine_id=row["machine_id"],
        last_heartbeat_at=row["last_heartbeat_at"],
        draining=bool(row["draining"]),
        deregistered_at=row["deregistered_at"],
    )
