"""Housekeeping: the Chief removes what is past its retention, a bounded bite in each round.

Recovery is no part of it, although the Chief's round sweeps as well: that needs no leader.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import structlog

from coordinator import leadership, nonces, recovery, status
from coordinator.database import Transaction
from shared.policy import Policy

# Nonces come as fast as requests do, so their bite is the larger one: at a round every 5 s it keeps up with 1,000
# requests a second. From the front of the table it takes 60 to 120 ms on a busy machine. Everything else is rows here
# and there.
NONCES_PER_ROUND = 5000
ROWS_PER_ROUND = 100
TASKS_PER_ROUND = 20
# A sweep that goes with each round; servers sweep a few tasks at every acquire besides.
RECOVERY_LIMIT = 20

_log = structlog.get_logger(__name__)
_DAY_SECONDS = 86_400
# In the order of locks; each kind leaves to the next ones what it does not need of its share.
_BY_AGE = (
    "history_delete_rejects",
    "history_delete_changes",
    "history_delete_terms",
    "history_delete_plans",
    "history_delete_events",
    "history_delete_samples",
)
_CHILDREN = ("history_delete_task_batches", "history_delete_task_rejects", "history_delete_task_claims")


@dataclass(frozen=True)
class Tidied:
    """How many rows one round removed."""

    nonces_deleted: int
    history_deleted: int


def run(tx: Transaction, policy: Policy, server_id: str, boot_id: UUID, fencing_token: int) -> Tidied:
    """One round of the leader's: nonces that no window accepts any more, then history, each at most its bite.

    Stored instants that lie ahead of the clock are logged as an alarm.
    Raises ``StaleFencingToken`` and ``LeaseExpired``.
    """
    now = leadership.assert_leader(tx, server_id, boot_id, fencing_token)
    nonces_deleted = nonces.delete_expired(tx, now, policy.nonce_retention_seconds, NONCES_PER_ROUND)
    recovery.free_stray_slots(tx)
    for ahead in status.instants_ahead(tx):
        _log.warning("instant_ahead", column=ahead.column, seconds_ahead=ahead.seconds_ahead)
    before = now - timedelta(seconds=policy.history_days * _DAY_SECONDS)
    return Tidied(nonces_deleted, _forget(tx, policy, before))


def _forget(tx: Transaction, policy: Policy, before: datetime) -> int:
    """Up to half of the bite for tasks with what belongs to them; then the rest by age, each at least its share."""
    left = ROWS_PER_ROUND - _forget_tasks(tx, policy, before, ROWS_PER_ROUND // 2)
    for position, query in enumerate(_BY_AGE):
        share = left // (len(_BY_AGE) - position)
        left -= tx.execute(query, before=before, limit=share)
    return ROWS_PER_ROUND - left


def _forget_tasks(tx: Transaction, policy: Policy, before: datetime, limit: int) -> int:
    """Delete ended tasks that are too old or too many for their account, children first; returns the rows."""
    left = limit
    for task_id in _forgettable(tx, policy, before):
        for query in _CHILDREN:
            left -= tx.execute(query, task_id=task_id, limit=left) if left else 0
        if left == 0:
            break
        left -= tx.execute("history_delete_task", task_id=task_id)
    return limit - left


def _forgettable(tx: Transaction, policy: Policy, before: datetime) -> Iterator[int]:
    """Ended tasks to delete, locked; one that somebody holds is left for a later round.

    Accounts with too many are found by what has ended last: an account's history grows only then.
    """
    old = tx.all("history_list_old_tasks", before=before, limit=TASKS_PER_ROUND)
    surplus = tx.all("history_list_surplus_tasks", kept=policy.history_per_account, limit=TASKS_PER_ROUND)
    task_ids = sorted({row["task_id"] for row in [*old, *surplus]})
    if task_ids:
        yield from (row["task_id"] for row in tx.all("history_lock_tasks", task_ids=task_ids))
