"""Grants: what a server is given to crawl: task, account, opened credentials, checkpoint and lease."""

from dataclasses import dataclass, field
from typing import Any

import msgspec

from coordinator import credentials
from coordinator.database import Row, Transaction
from coordinator.tasks import Task
from coordinator.vault import Vault
from shared.states import Enumeration, SizeClass


@dataclass(frozen=True)
class Account:
    """The account to crawl; ``size`` is the number of records of its last completed crawl."""

    account_id: int
    marketplace_code: str
    account_ref: str
    settings: dict[str, Any]
    size: int | None


@dataclass(frozen=True)
class Credentials:
    """The account's credentials in the connector's own members, and their version."""

    version: int
    values: dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Checkpoint:
    """Up to where everything is durable in this epoch."""

    epoch: int
    current_page: int
    last_cursor_token: str | None
    processed_count: int
    total_discovered_count: int | None


@dataclass(frozen=True)
class Grant:
    """A task that a server owns from now on, and how long: the answer to an acquire."""

    task_id: int
    fencing_token: int
    lease_seconds: float
    lease_remaining_seconds: float
    size_class: SizeClass
    enumeration: Enumeration
    last_batch_no: int
    account: Account
    credentials: Credentials | None
    checkpoint: Checkpoint


@dataclass(frozen=True)
class Subject:
    """The account of a task as it is now, and whether it may be crawled."""

    account: Account
    credentials: Credentials | None
    paused: bool
    suspended: bool


def read_subject(tx: Transaction, vault: Vault, account_id: int) -> Subject:
    """The account, read without a lock, and its opened credentials. Raises ``VaultError`` when they do not open."""
    row = tx.one("claim_read_account", account_id=account_id)
    if row is None:
        raise RuntimeError(f"there is no account {account_id}, although a task names it")
    account = Account(
        account_id=row["account_id"],
        marketplace_code=row["marketplace_code"],
        account_ref=row["account_ref"],
        settings=msgspec.json.decode(row["settings"]),
        size=row["size"],
    )
    return Subject(account, _credentials(vault, row), bool(row["paused"]), row["suspended_at"] is not None)


def grant(task: Task, subject: Subject, lease_seconds: float) -> Grant:
    """The answer that gives ``task``, as it stands after its acquisition, for ``lease_seconds`` from now."""
    return Grant(
        task_id=task.task_id,
        fencing_token=task.fencing_token,
        lease_seconds=lease_seconds,
        lease_remaining_seconds=lease_seconds,
        size_class=task.size_class,
        enumeration=task.enumeration,
        last_batch_no=task.last_batch_no,
        account=subject.account,
        credentials=subject.credentials,
        checkpoint=Checkpoint(
            task.epoch,
            task.checkpoint.current_page,
            task.checkpoint.last_cursor_token,
            task.checkpoint.processed_count,
            task.checkpoint.total_discovered_count,
        ),
    )


def _credentials(vault: Vault, row: Row) -> Credentials | None:
    if row["version"] is None:
        return None
    return Credentials(row["version"], credentials.opened(vault, row["account_id"], row))
