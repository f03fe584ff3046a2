"""A crawl task as the database holds it, and how it is locked.

Every write on a task starts by locking its row. Only then is the clock read (``Transaction.now``): a lease judged by
an instant from before the wait could be revived after its end.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from coordinator.database import Row, Transaction
from shared.problems import NotFound
from shared.states import Enumeration, SizeClass, TaskState


@dataclass(frozen=True)
class Counters:
    """How far a crawl has come in its epoch: pages, the cursor after them, raw records, and the largest total heard."""

    current_page: int
    last_cursor_token: str | None
    processed_count: int
    total_discovered_count: int | None

    def is_behind(self, other: "Counters") -> bool:
        """Whether pages or records are fewer than the other's. A total may shrink: that is no step back."""
        return self.current_page < other.current_page or self.processed_count < other.processed_count

    def is_ahead_of(self, other: "Counters") -> bool:
        """Whether it moves the other forward: more pages or records, and neither of them fewer."""
        if self.is_behind(other):
            return False
        return self.current_page > other.current_page or self.processed_count > other.processed_count


def largest_total(one: int | None, other: int | None) -> int | None:
    """The running maximum of two totals, either of which may be unknown."""
    return max((total for total in (one, other) if total is not None), default=None)


@dataclass(frozen=True)
class Task:
    """One row of ``crawl_tasks``; ``checkpoint`` is durable, ``progress`` is what the owner claims."""

    task_id: int
    account_id: int
    marketplace_code: str
    crawl_no: int
    state: TaskState
    size_class: SizeClass
    eligible_at: datetime | None
    server_id: str | None
    boot_id: UUID | None
    fencing_token: int
    acquired_at: datetime | None
    acquired_page: int
    lease_expires_at: datetime | None
    epoch: int
    cursor_format: str | None
    last_batch_no: int
    checkpoint: Counters
    progress: Counters
    progress_at: datetime | None
    attempts: int
    enumeration: Enumeration
    cancel_requested: bool
    yield_requested: bool
    completion_digest: bytes | None

    @property
    def has_checkpoint(self) -> bool:
        """Whether a crawl that goes on from here skips anything."""
        return self.checkpoint.current_page > 0 or self.checkpoint.last_cursor_token is not None

    @property
    def attempts_at_end(self) -> int:
        """``attempts``, were the acquisition to end now: one more, unless it made a page durable.

        A batch that is only part of a page does not count as progress: a page that always fails in its middle would
        be tried for ever.
        """
        return self.attempts if self.checkpoint.current_page > self.acquired_page else self.attempts + 1


def lock(tx: Transaction, task_id: int) -> Task:
    """The task, locked to the end of the transaction. Raises ``NotFound``."""
    row = tx.one("task_lock", task_id=task_id)
    if row is None:
        raise NotFound(f"There is no task {task_id}")
    return from_row(row)


def lock_if_free(tx: Transaction, task_id: int) -> Task | None:
    """The task, locked; None when another transaction holds it, or it is gone."""
    row = tx.one("task_lock_if_free", task_id=task_id)
    return None if row is None else from_row(row)


def from_row(row: Row) -> Task:
    """A row with all of the columns that ``task_lock.sql`` selects."""
    progress = Counters(
        row["progress_page"], row["progress_cursor_token"], row["progress_processed_count"], row["progress_total_count"]
    )
    checkpoint = Counters(
        row["current_page"], row["last_cursor_token"], row["processed_count"], row["total_discovered_count"]
    )
    return Task(
        **{name: row[name] for name in _PLAIN},
        state=TaskState(row["state"]),
        size_class=SizeClass(row["size_class"]),
        boot_id=None if row["boot_id"] is None else UUID(bytes=row["boot_id"]),
        checkpoint=checkpoint,
        progress=progress,
        enumeration=Enumeration(row["enumeration"]),
        cancel_requested=bool(row["cancel_requested"]),
        yield_requested=bool(row["yield_requested"]),
    )


_PLAIN = (
    "task_id",
    "account_id",
    "marketplace_code",
    "crawl_no",
    "eligible_at",
    "server_id",
    "fencing_token",
    "acquired_at",
    "acquired_page",
    "lease_expires_at",
    "epoch",
    "cursor_format",
    "last_batch_no",
    "progress_at",
    "attempts",
    "completion_digest",
)
