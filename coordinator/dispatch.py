"""Acquire: a server gets the best waiting task that it may run, once per ``acquire_seq``.

The server's row is locked throughout, so a server has one acquire at a time and its boot stays the current one.
"""

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from coordinator import boots, claims, events, grants, ownership, seats, tasks, waiting
from coordinator.claims import Claim
from coordinator.database import Row, Transaction
from coordinator.grants import Grant
from coordinator.ownership import Owner
from coordinator.tasks import Counters, Task
from coordinator.vault import Vault, VaultError
from shared.policy import Policy
from shared.problems import NotFound, StaleRequest
from shared.states import Enumeration

_NOTHING_YET = Counters(0, None, 0, None)


@dataclass(frozen=True)
class Request:
    """Who asks for a task: a server's boot; ``acquire_seq`` rises with each request, a repeat has the same."""

    server_id: str
    boot_id: UUID
    acquire_seq: int


def acquire(tx: Transaction, policy: Policy, vault: Vault, request: Request) -> Grant | None:
    """Give the server a task, or None when there is none that it may run now.

    A repeated request gets the same task while that acquisition still owns it, its lease renewed, else None. Raises
    ``ServerNotRegistered``, ``BootSuperseded``, ``ServerDraining``, and ``StaleRequest`` for an earlier number.
    """
    server = boots.require_current(boots.lock(tx, request.server_id), request.boot_id)
    asked = tx.one("claim_read_server", server_id=request.server_id) or {}
    last = asked["acquire_seq"]
    if request.acquire_seq < last:
        raise StaleRequest(f"Acquire {last} was served, {request.acquire_seq} comes too late", acquire_seq=last)
    if request.acquire_seq == last:
        return _again(tx, policy, vault, request, asked)
    boots.require_serving(server, request.boot_id)
    given = _first_time(tx, policy, vault, request, asked)
    tx.execute(
        "claim_write_server",
        server_id=request.server_id,
        acquire_seq=request.acquire_seq,
        task_id=given and given.task_id,
        fencing_token=given and given.fencing_token,
    )
    return given


def _first_time(tx: Transaction, policy: Policy, vault: Vault, request: Request, asked: Row) -> Grant | None:
    slot_no, is_full = asked["free_slot_no"], asked["running_count"] >= policy.slots_per_server
    if asked["paused"] or slot_no is None or is_full:
        return None
    claim = claims.find(tx, policy, vault, request.server_id)
    return None if claim is None else _start(tx, policy, request, slot_no, claim)


def _again(tx: Transaction, policy: Policy, vault: Vault, request: Request, asked: Row) -> Grant | None:
    """The task that this request got before, if the acquisition still owns it.

    The lease is judged and renewed by an instant that is read under the task's lock.
    """
    if asked["acquired_task_id"] is None:
        return None
    owner = Owner(asked["acquired_task_id"], request.server_id, request.boot_id, asked["acquired_fencing_token"])
    try:
        task = tasks.lock(tx, owner.task_id)
        now = tx.now()
        subject = grants.read_subject(tx, vault, task.account_id)
    except (NotFound, VaultError):
        return None
    if not ownership.owns(owner, task, now):
        return None
    lease_expires_at = now + timedelta(seconds=policy.task_lease_seconds)
    tx.execute("task_extend_lease", task_id=task.task_id, lease_expires_at=lease_expires_at)
    return grants.grant(task, subject, policy.task_lease_seconds)


def _start(tx: Transaction, policy: Policy, request: Request, slot_no: int, claim: Claim) -> Grant:
    """Seat the claimed task and let it run. The lease counts from an instant that is read after every wait."""
    task = _readable(tx, claim)
    seats.take(tx, request.server_id, slot_no, task)
    now = tx.now()
    tx.execute(
        "claim_start",
        task_id=task.task_id,
        server_id=request.server_id,
        boot_id=request.boot_id,
        now=now,
        lease_expires_at=now + timedelta(seconds=policy.task_lease_seconds),
    )
    running = replace(task, server_id=request.server_id, boot_id=request.boot_id, fencing_token=task.fencing_token + 1)
    claims.record(tx, claim, running, now)
    if task.epoch != claim.task.epoch:
        events.of_task(tx, "epoch_opened", running, now, epoch=task.epoch, reason="cursor_format")
    events.of_task(
        tx, "acquired", running, now, slot_no=slot_no, epoch=task.epoch, current_page=task.checkpoint.current_page
    )
    return grants.grant(running, claim.subject, policy.task_lease_seconds)


def _readable(tx: Transaction, claim: Claim) -> Task:
    """The claimed task, in a new epoch where the server does not speak the format of the checkpoint's cursor."""
    task = claim.task
    if not task.has_checkpoint or task.cursor_format == claim.cursor_format:
        return task
    epoch = waiting.open_epoch(tx, task)
    return replace(task, epoch=epoch, checkpoint=_NOTHING_YET, enumeration=Enumeration.GUESSED)
