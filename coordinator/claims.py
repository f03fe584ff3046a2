"""Claims: which waiting task a server may start now, found in key order and locked.

One marketplace is waited for at most, further ones are skipped while somebody holds them. So whoever waits holds no
marketplace, and no two servers wait for each other.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from decimal import Decimal

import structlog

from coordinator import events, fleet, grants, quotas, tasks
from coordinator.database import Row, Transaction
from coordinator.grants import Subject
from coordinator.quotas import Room
from coordinator.tasks import Task
from coordinator.vault import Vault, VaultError
from shared.policy import Policy
from shared.states import SizeClass

LOOKS_PER_GROUP = 5
CREDENTIALS_UNREADABLE = "credentials_unreadable"
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Head:
    """The best waiting task of a marketplace and size class, as it was seen without locks."""

    marketplace_code: str
    size_class: SizeClass
    cursor_format: str
    room: Room


@dataclass(frozen=True)
class Claim:
    """A waiting task, locked with its marketplace; ``room`` counts it in. The server speaks ``cursor_format``."""

    task: Task
    subject: Subject
    room: Room
    cursor_format: str


def find(tx: Transaction, policy: Policy, vault: Vault, server_id: str) -> Claim | None:
    """The best task that the server may start, or None. The caller holds the server's row and has a free slot."""
    locked: dict[str, Row | None] = {}
    for head in _heads(tx, policy, server_id):
        code = head.marketplace_code
        if code not in locked:
            query = "claim_lock_marketplace_if_free" if locked else "claim_lock_marketplace"
            locked[code] = tx.one(query, marketplace_code=code)
        marketplace = locked[code]
        if marketplace is None or marketplace["paused"]:
            continue
        claim = _claim(tx, policy, vault, head, marketplace["quota_per_server"])
        if claim is not None:
            return claim
    return None


def record(tx: Transaction, claim: Claim, running: Task, now: datetime) -> None:
    """Write what the claim of a task that runs now saw of quota and large cap: that is what is audited (I5)."""
    tx.execute(
        "claim_insert",
        task_id=running.task_id,
        fencing_token=running.fencing_token,
        server_id=running.server_id,
        boot_id=running.boot_id,
        marketplace_code=running.marketplace_code,
        size_class=running.size_class.value,
        now=now,
        **asdict(claim.room),
    )


def _heads(tx: Transaction, policy: Policy, server_id: str) -> list[Head]:
    """The heads of the groups that do not look full, best key first; nothing is locked."""
    rows = tx.all("claim_list_heads", server_id=server_id)
    if not rows:
        return []
    active_servers = fleet.active_servers(tx, policy, tx.now())
    rows.sort(key=lambda row: (row["dispatch_key"], row["task_id"]))
    heads = [_head(row, active_servers) for row in rows]
    return [head for head in heads if head.room.admits(head.size_class)]


def _head(row: Row, active_servers: int) -> Head:
    seen = quotas.room(row["quota_per_server"], active_servers, row["running_count"], row["large_count"])
    return Head(row["marketplace_code"], SizeClass(row["size_class"]), row["cursor_format"], seen)


def _claim(tx: Transaction, policy: Policy, vault: Vault, head: Head, quota_per_server: Decimal) -> Claim | None:
    """Recount under the marketplace's lock, then lock the group's best task whose account may be crawled."""
    room = quotas.count(tx, policy, head.marketplace_code, quota_per_server)
    if not room.admits(head.size_class):
        return None
    for task in _waiting(tx, head):
        subject = _fit_subject(tx, policy, vault, task)
        if subject is not None:
            return Claim(task, subject, room.with_one(head.size_class), head.cursor_format)
    return None


def _waiting(tx: Transaction, head: Head) -> Iterator[Task]:
    """The group's tasks, best first, each locked; the caller takes each one from the queue before it asks on."""
    for _ in range(LOOKS_PER_GROUP):
        row = tx.one("claim_find_best", marketplace_code=head.marketplace_code, size_class=head.size_class.value)
        if row is None:
            return
        yield tasks.from_row(row)


def _fit_subject(tx: Transaction, policy: Policy, vault: Vault, task: Task) -> Subject | None:
    """The task's account, read after the task was locked; None when it may not be crawled, and the task is put away.

    Who pauses an account locks its waiting task first. So a pause either finds the task running, or is seen here.
    """
    try:
        subject = grants.read_subject(tx, vault, task.account_id)
    except VaultError as error:
        _log.error("credentials_unreadable", account_id=task.account_id, reason=str(error))
        _delay(tx, policy, task, str(error))
        return None
    if subject.suspended:
        now = tx.now()
        tx.execute("task_cancel", task_id=task.task_id, now=now)
        events.of_task(tx, "cancelled", task, now, reason="account_suspended")
        return None
    if subject.paused and _stays_paused(tx, task):
        tx.execute("task_hold", task_id=task.task_id)
        events.of_task(tx, "held", task, tx.now(), reason="account_paused")
        return None
    return subject


def _stays_paused(tx: Transaction, task: Task) -> bool:
    """Judged again under the account's lock.

    Who resumes the account just now may have looked for a task before this one was planned, and would leave it held.
    """
    account = tx.one("outcome_share_account", account_id=task.account_id)
    return account is not None and bool(account["paused"])


def _delay(tx: Transaction, policy: Policy, task: Task, why: str) -> None:
    """Put away a task whose credentials do not open: one such account must not stop its marketplace's dispatch."""
    now = tx.now()
    eligible_at = now + timedelta(seconds=policy.failure_cooldown_seconds)
    tx.execute(
        "task_delay",
        task_id=task.task_id,
        eligible_at=eligible_at,
        error_code=CREDENTIALS_UNREADABLE,
        error_message=why,
    )
    events.of_task(tx, "delayed", task, now, code=CREDENTIALS_UNREADABLE, eligible_at=eligible_at)
