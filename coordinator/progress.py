"""Task heartbeats: they extend the lease and record how far the owner says it is.

What an owner claims may still be in its memory. So a heartbeat never moves the checkpoint that a next owner resumes
from: only a flush does (I7).
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from coordinator import orders, ownership
from coordinator.database import Transaction
from coordinator.orders import Orders
from coordinator.ownership import Owner
from coordinator.tasks import Counters, Task, largest_total
from shared.policy import Policy
from shared.problems import TaskStalled
from shared.states import Progress


@dataclass(frozen=True)
class Heartbeat(Orders):
    """The answer to a task heartbeat: orders, and the progress as it is stored now."""

    progress: Progress
    current_page: int
    last_cursor_token: str | None
    processed_count: int
    total_discovered_count: int | None


def heartbeat(
    tx: Transaction, policy: Policy, owner: Owner, report: Counters, rate_limit_wait_seconds: float = 0.0
) -> Heartbeat:
    """Extend the owner's lease from now and record its progress, which only moves forward.

    A report that is behind still shows that the owner lives: it is answered ``stale`` with the stored values.
    ``rate_limit_wait_seconds`` is how long the marketplace has made the owner wait since its last page. Raises
    ``StaleTaskOwner``, and ``TaskStalled`` when no page came for too long; the lease is not extended then.
    """
    owned = ownership.lock_owned(tx, owner)
    task, now = owned.task, owned.now
    advances = report.is_ahead_of(task.progress)
    if not advances:
        _require_progress(policy, task, now, rate_limit_wait_seconds)
    stored = merged(task.progress, report)
    tx.execute(
        "task_heartbeat",
        task_id=task.task_id,
        lease_expires_at=now + timedelta(seconds=policy.task_lease_seconds),
        progress_at=now if advances else task.progress_at,
        **asdict(stored),
    )
    given = orders.read(tx, task, policy.task_lease_seconds)
    verdict = Progress.STALE if report.is_behind(task.progress) else Progress.RECORDED
    return Heartbeat(**asdict(given), progress=verdict, **asdict(stored))


def merged(stored: Counters, report: Counters) -> Counters:
    """Progress after a report: the report where it is ahead, else what was stored; totals never shrink."""
    further = report if report.is_ahead_of(stored) else stored
    total = largest_total(stored.total_discovered_count, report.total_discovered_count)
    return Counters(further.current_page, further.last_cursor_token, further.processed_count, total)


def _require_progress(policy: Policy, task: Task, now: datetime, rate_limit_wait_seconds: float) -> None:
    if task.progress_at is None:
        return
    idle = (now - task.progress_at).total_seconds() - rate_limit_wait_seconds
    if idle >= policy.progress_timeout_seconds:
        raise TaskStalled(
            f"No page was completed for {idle:.0f} s, rate-limit waits apart; {policy.progress_timeout_seconds:g} s are"
            f" allowed: give up task {task.task_id}"
        )
