"""Pages: tasks, accounts and servers for people to read, each page going on after the last key of the one before."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from coordinator.database import Row, Transaction
from shared.problems import NotFound
from shared.states import SizeClass, TaskState

MAX_PAGE = 100

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """Some rows in key order; ``next_after`` asks for those that follow, None says that there are none."""

    items: Sequence[T]
    next_after: int | str | None


@dataclass(frozen=True)
class TaskLine:
    """A crawl task; the counters are what its owner claims while it runs, what is durable otherwise."""

    task_id: int
    account_id: int
    partner_code: str
    marketplace_code: str
    account_ref: str
    state: TaskState
    size_class: SizeClass
    size: int | None
    due_at: datetime
    dispatch_key: datetime
    eligible_at: datetime | None
    server_id: str | None
    fencing_token: int
    acquired_at: datetime | None
    lease_expires_at: datetime | None
    epoch: int
    current_page: int
    processed_count: int
    total_discovered_count: int | None
    attempts: int
    cancel_requested: bool
    error_code: str | None
    error_message: str | None
    created_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class AccountLine:
    """An account; ``row_version`` is what an operator's verb on it must name."""

    account_id: int
    partner_code: str
    marketplace_code: str
    account_ref: str
    refresh_interval_seconds: int
    size: int | None
    next_due_at: datetime
    crawl_no: int
    consecutive_failures: int
    last_completed_at: datetime | None
    paused: bool
    suspended_at: datetime | None
    task_id: int | None
    task_state: TaskState | None
    row_version: int


@dataclass(frozen=True)
class ServerLine:
    """A server and what it runs; the last sample of its telemetry, where there is one."""

    server_id: str
    boot_id: UUID
    hostname: str
    version: str
    registered_at: datetime
    last_heartbeat_at: datetime
    draining: bool
    paused: bool
    deregistered_at: datetime | None
    slots: int
    running: int
    cpu_percent: float | None
    rss_bytes: int | None
    row_version: int


def tasks(tx: Transaction, after: int = 0, limit: int = MAX_PAGE, state: TaskState | None = None) -> Page[TaskLine]:
    """Tasks by their number, of one state or of all."""
    if state is None:
        rows = tx.all("page_list_tasks", after=after, limit=limit + 1)
    else:
        rows = tx.all("page_list_tasks_in_state", after=after, limit=limit + 1, state=state)
    return _page([_task_line(row) for row in rows], limit, "task_id")


def task(tx: Transaction, task_id: int) -> TaskLine:
    """One task. Raises ``NotFound``."""
    for line in tasks(tx, after=task_id - 1, limit=1).items:
        if line.task_id == task_id:
            return line
    raise NotFound(f"There is no task {task_id}")


def accounts(tx: Transaction, after: int = 0, limit: int = MAX_PAGE) -> Page[AccountLine]:
    """Accounts by their number."""
    rows = tx.all("page_list_accounts", after=after, limit=limit + 1)
    return _page([_account_line(row) for row in rows], limit, "account_id")


def servers(tx: Transaction, after: str = "", limit: int = MAX_PAGE) -> Page[ServerLine]:
    """Servers by name, those that have left too."""
    rows = tx.all("page_list_servers", after=after, limit=limit + 1)
    return _page([_server_line(row) for row in rows], limit, "server_id")


def _page(items: Sequence[T], limit: int, key: str) -> Page[T]:
    """One row more than the page holds has been asked for: it tells whether another page follows."""
    shown = items[:limit]
    return Page(shown, getattr(shown[-1], key) if len(items) > limit else None)


def _task_line(row: Row) -> TaskLine:
    typed: dict[str, Any] = {
        "state": TaskState(row["state"]),
        "size_class": SizeClass(row["size_class"]),
        "cancel_requested": bool(row["cancel_requested"]),
    }
    return TaskLine(**{**row, **typed})


def _account_line(row: Row) -> AccountLine:
    state = None if row["task_state"] is None else TaskState(row["task_state"])
    return AccountLine(**{**row, "paused": bool(row["paused"]), "task_state": state})


def _server_line(row: Row) -> ServerLine:
    typed: dict[str, Any] = {
        "boot_id": UUID(bytes=row["boot_id"]),
        "draining": bool(row["draining"]),
        "paused": bool(row["paused"]),
        "cpu_percent": None if row["cpu_percent"] is None else float(row["cpu_percent"]),
    }
    return ServerLine(**{**row, **typed})
