"""The cluster's single lease: who is Chief, until when, and the token that fences off whoever was before (I1, I2).

The leadership row is locked first and a server's row after it. The clock is read once both are held: an instant from
before a wait would revive an ended lease, shorten a fresh one, and let two terms overlap.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from coordinator import boots, events
from coordinator.database import Row, Transaction
from shared.policy import Policy
from shared.problems import LeaseExpired, StaleFencingToken
from shared.states import TermEnd


@dataclass(frozen=True)
class Tenure:
    """Whose the lease is, ended or not, and when it was last renewed."""

    server_id: str
    boot_id: UUID
    renewed_at: datetime
    lease_expires_at: datetime


@dataclass(frozen=True)
class Lease:
    """The leadership row: the last election's token (0 before the first), and its tenure unless it was given up."""

    fencing_token: int
    tenure: Tenure | None


@dataclass(frozen=True)
class Leadership:
    """Who leads, as told to one caller.

    ``elected``: the caller does, for ``lease_remaining_seconds`` from this transaction on. ``eligible_at``: when
    another server may be elected unless the leader renews; None means now.
    """

    elected: bool
    fencing_token: int
    lease_remaining_seconds: float
    leader_server_id: str | None
    eligible_at: datetime | None


def read(tx: Transaction, policy: Policy) -> Leadership:
    """Who leads, for anybody who asks; locks nothing."""
    return _told(policy, _lease(tx.one("leadership_read")), tx.now(), elected=False)


def campaign(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID) -> Leadership:
    """Elect the caller under a new token if it is eligible; renew it if it leads already; else tell it who leads.

    Only the current boot of a server that is not draining may ask: raises ``ServerNotRegistered``,
    ``ServerDraining`` and ``BootSuperseded``. Whoever is not eligible is answered without a lock, so that a crowd of
    candidates never holds up the leader. What was judged without the lock is judged again under it.
    """
    boots.require_serving(boots.read(tx, server_id), boot_id)
    seen, now = _lease(tx.one("leadership_read")), tx.now()
    if not _is_eligible(policy, seen, server_id, now):
        return _told(policy, seen, now, elected=False)
    held = lock(tx)
    boots.require_serving(boots.share(tx, server_id), boot_id)
    now = tx.now()
    if not _is_eligible(policy, held, server_id, now):
        return _told(policy, held, now, elected=False)
    if held.tenure and held.tenure.boot_id == boot_id and now < held.tenure.lease_expires_at:
        return _renew(tx, policy, held.fencing_token, held.tenure, now)
    return _elect(tx, policy, held, server_id, boot_id, now)


def heartbeat(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID, fencing_token: int) -> Leadership:
    """Extend the caller's lease from now. Raises ``StaleFencingToken`` and ``LeaseExpired``."""
    held = lock(tx)
    now = tx.now()
    tenure = _require_leader(held, server_id, boot_id, fencing_token)
    _require_unexpired(tenure, now)
    return _renew(tx, policy, held.fencing_token, tenure, now)


def resign(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID, fencing_token: int) -> Leadership:
    """Give the leadership up, also after its lease has ended: anybody is eligible at once.

    Raises ``StaleFencingToken``.
    """
    held = lock(tx)
    now = tx.now()
    tenure = _require_leader(held, server_id, boot_id, fencing_token)
    free(tx, held.fencing_token, tenure, TermEnd.RESIGNED, now)
    return _told(policy, Lease(held.fencing_token, None), now, elected=False)


def assert_leader(tx: Transaction, server_id: str, boot_id: UUID, fencing_token: int) -> datetime:
    """Let the leader write: returns now, and no election commits before this transaction ends (I2).

    The lock is shared, so that leader's writes do not wait for each other; keep them under a second, since the
    leader's own renewal waits for them. Raises ``StaleFencingToken`` and ``LeaseExpired``.
    """
    held = _lease(tx.one("leadership_share"))
    now = tx.now()
    _require_unexpired(_require_leader(held, server_id, boot_id, fencing_token), now)
    return now


def lock(tx: Transaction) -> Lease:
    """The lease, locked to be changed. Lock it before any server's row, and read the clock after both."""
    return _lease(tx.one("leadership_lock"))


def free(tx: Transaction, fencing_token: int, tenure: Tenure, reason: TermEnd, now: datetime) -> None:
    """End the tenure of a lease that is locked; its token is never given again."""
    tx.execute("leadership_free")
    _end_term(tx, fencing_token, tenure, reason, now)
    events.record(tx, reason.value, now, server_id=tenure.server_id, fencing_token=fencing_token)


def _is_eligible(policy: Policy, lease: Lease, server_id: str, now: datetime) -> bool:
    """Whether the server may have the lease at ``now``: nobody holds it, or it does itself, or the wait is over.

    A server need not wait for its own: an older boot is gone, and this boot knows that its lease has ended.
    """
    if lease.tenure is None or lease.tenure.server_id == server_id:
        return True
    return now >= _eligible_at(policy, lease.tenure)


def _eligible_at(policy: Policy, tenure: Tenure) -> datetime:
    """When another server may be elected; a lease granted under a longer policy is still waited for."""
    threshold = timedelta(seconds=policy.failover_threshold_seconds)
    return max(tenure.renewed_at + threshold, tenure.lease_expires_at)


def _elect(tx: Transaction, policy: Policy, former: Lease, server_id: str, boot_id: UUID, now: datetime) -> Leadership:
    if former.tenure is not None:
        _end_term(tx, former.fencing_token, former.tenure, TermEnd.SUPERSEDED, now)
    fencing_token = former.fencing_token + 1
    tenure = _granted(policy, server_id, boot_id, now)
    tx.execute(
        "leadership_elect",
        fencing_token=fencing_token,
        server_id=server_id,
        boot_id=boot_id,
        now=now,
        lease_expires_at=tenure.lease_expires_at,
    )
    tx.execute("term_insert", fencing_token=fencing_token, server_id=server_id, boot_id=boot_id, now=now)
    events.record(tx, "elected", now, server_id=server_id, fencing_token=fencing_token)
    return _told(policy, Lease(fencing_token, tenure), now, elected=True)


def _renew(tx: Transaction, policy: Policy, fencing_token: int, tenure: Tenure, now: datetime) -> Leadership:
    renewed = _granted(policy, tenure.server_id, tenure.boot_id, now)
    tx.execute("leadership_renew", now=now, lease_expires_at=renewed.lease_expires_at)
    return _told(policy, Lease(fencing_token, renewed), now, elected=True)


def _granted(policy: Policy, server_id: str, boot_id: UUID, now: datetime) -> Tenure:
    return Tenure(server_id, boot_id, now, now + timedelta(seconds=policy.leader_lease_seconds))


def _end_term(tx: Transaction, fencing_token: int, tenure: Tenure, reason: TermEnd, now: datetime) -> None:
    tx.execute(
        "term_end",
        fencing_token=fencing_token,
        ended_at=min(now, tenure.lease_expires_at),
        reason=reason.value,
    )


def _require_leader(lease: Lease, server_id: str, boot_id: UUID, fencing_token: int) -> Tenure:
    tenure = lease.tenure
    if tenure is None or (tenure.server_id, tenure.boot_id, lease.fencing_token) != (server_id, boot_id, fencing_token):
        raise StaleFencingToken(
            f"Term {fencing_token} of this boot is over: stop leading, and campaign anew",
            fencing_token=lease.fencing_token,
        )
    return tenure


def _require_unexpired(tenure: Tenure, now: datetime) -> None:
    if now >= tenure.lease_expires_at:
        raise LeaseExpired("The lease has ended without a renewal: stop leading, and campaign anew")


def _told(policy: Policy, lease: Lease, now: datetime, *, elected: bool) -> Leadership:
    if lease.tenure is None:
        return Leadership(elected, lease.fencing_token, 0.0, None, None)
    remaining = (lease.tenure.lease_expires_at - now).total_seconds()
    return Leadership(
        elected, lease.fencing_token, max(0.0, remaining), lease.tenure.server_id, _eligible_at(policy, lease.tenure)
    )


def _lease(row: Row | None) -> Lease:
    if row is None:
        raise RuntimeError("the leadership row is missing: schema.sql inserts it")
    if row["leader_server_id"] is None:
        return Lease(row["fencing_token"], None)
    boot_id = UUID(bytes=row["leader_boot_id"])
    return Lease(
        row["fencing_token"],
        Tenure(row["leader_server_id"], boot_id, row["renewed_at"], row["lease_expires_at"]),
    )
