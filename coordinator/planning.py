"""Planning: the Chief asks which accounts are due soon, and posts the tasks that it makes of them.

A plan locks no account: each task is one statement that looks at its account again and inserts nothing when the
account has changed since the Chief saw it.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

import msgspec
import pymysql
from pymysql.constants import ER

from coordinator import leadership
from coordinator.database import Transaction
from shared.policy import Policy
from shared.problems import PlanConflict
from shared.states import SizeClass


@dataclass(frozen=True)
class Candidate:
    """An account that is due within the horizon and has no active task; ``size`` is None before its first crawl."""

    account_id: int
    marketplace_code: str
    size: int | None
    due_at: datetime
    yields: bool


@dataclass(frozen=True)
class Candidates:
    """What may be planned, most due first, and what the key formula needs besides (0 when there are no accounts)."""

    candidates: Sequence[Candidate]
    longest_refresh_interval_seconds: float


@dataclass(frozen=True)
class PlannedTask:
    """A task for an account as the Chief saw it (``due_at``, ``size``), and the key and class that follow from it."""

    account_id: int
    due_at: datetime
    size: int | None
    size_class: SizeClass
    dispatch_key: datetime


@dataclass(frozen=True)
class Plan:
    """Tasks that one leader plans, in account order, no account twice; a repeat has the same ``plan_id``."""

    server_id: str
    boot_id: UUID
    fencing_token: int
    plan_id: UUID
    tasks: Sequence[PlannedTask]


@dataclass(frozen=True)
class Planned:
    """How many tasks were created, and how many accounts had changed, were not due any more or had an active task."""

    created: int
    skipped: int


def candidates(tx: Transaction, policy: Policy, limit: int) -> Candidates:
    """At most ``limit`` accounts that a plan may name now; locks nothing."""
    rows = tx.all("plan_list_candidates", horizon=_horizon(policy, tx.now()), limit=limit)
    found = [Candidate(**{**row, "yields": bool(row["yields"])}) for row in rows]
    longest = tx.one("plan_read_longest_interval")
    return Candidates(found, float(longest["seconds"]) if longest else 0.0)


def submit(tx: Transaction, policy: Policy, plan: Plan) -> Planned:
    """Create the tasks of a plan; those whose accounts are not due yet wait as delayed until they are.

    The plan's row is written first: of two requests with one ``plan_id`` the later waits for the earlier and is
    answered alike. Raises ``StaleFencingToken`` and ``LeaseExpired``, and ``PlanConflict`` when the id was used for
    other tasks.
    """
    now = leadership.assert_leader(tx, plan.server_id, plan.boot_id, plan.fencing_token)
    digest = hashlib.sha256(msgspec.json.encode(plan.tasks)).digest()
    if not _insert_plan(tx, plan, digest, now):
        return _answered_before(tx, plan.plan_id, digest)
    created = sum(_create(tx, policy, task, now) for task in plan.tasks)
    planned = Planned(created, len(plan.tasks) - created)
    tx.execute("plan_write_counts", plan_id=plan.plan_id, created_count=created, skipped_count=planned.skipped)
    return planned


def _horizon(policy: Policy, now: datetime) -> datetime:
    """How far plans reach ahead: while no leader is elected for the failover threshold, slots must not starve."""
    return now + timedelta(seconds=policy.failover_threshold_seconds + policy.plan_interval_seconds)


def _insert_plan(tx: Transaction, plan: Plan, digest: bytes, now: datetime) -> bool:
    return _inserts(
        tx, "plan_insert", plan_id=plan.plan_id, fencing_token=plan.fencing_token, body_digest=digest, now=now
    )


def _answered_before(tx: Transaction, plan_id: UUID, digest: bytes) -> Planned:
    row = tx.one("plan_read", plan_id=plan_id)
    if row is None:
        raise RuntimeError(f"plan {plan_id} was refused as a duplicate and is not there")
    if row["body_digest"] != digest:
        raise PlanConflict(f"Plan {plan_id} named other tasks: use a new plan_id for each plan")
    return Planned(row["created_count"], row["skipped_count"])


def _create(tx: Transaction, policy: Policy, task: PlannedTask, now: datetime) -> bool:
    """Create one task, unless its account has changed, or a plan that has not committed yet is faster (I3)."""
    return _inserts(
        tx,
        "plan_create_task",
        account_id=task.account_id,
        due_at=task.due_at,
        size=task.size,
        size_class=task.size_class,
        dispatch_key=task.dispatch_key,
        horizon=_horizon(policy, now),
        now=now,
    )


def _inserts(tx: Transaction, query: str, **parameters: object) -> bool:
    """Whether the statement inserts its row; a row that another transaction has put there first is no error."""
    try:
        return tx.execute(query, **parameters) == 1
    except pymysql.err.IntegrityError as error:
        if error.args[0] != ER.DUP_ENTRY:
            raise
        return False
