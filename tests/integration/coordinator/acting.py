"""The code under test as servers use it: each call is one transaction, answers become the caller's next request."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import msgspec

from coordinator import credentials, dispatch, ingest, outcomes, progress
from coordinator.audit import Actor
from coordinator.database import Database
from coordinator.dispatch import Request
from coordinator.grants import Grant
from coordinator.ingest import Flushed
from coordinator.outcomes import Completion, Failed, Outcome
from coordinator.ownership import Owner
from coordinator.progress import Heartbeat
from coordinator.tasks import Counters
from coordinator.vault import Vault
from coordinator.waiting import Failure
from shared.listing import Batch, Listing, Reject
from shared.policy import DEFAULT, Policy
from shared.states import Enumeration
from tests.integration.seed import CURSOR_FORMAT, Seed

VAULT = Vault({1: bytes(range(32))})
OPERATOR = Actor("operator-1")


@dataclass
class Acting:
    """Calls of servers and operators on one database, by one policy."""

    database: Database
    policy: Policy = DEFAULT
    vault: Vault = VAULT

    def acquire(self, server_id: str, boot_id: uuid.UUID, acquire_seq: int = 1) -> Grant | None:
        request = Request(server_id, boot_id, acquire_seq)
        return self.database.transaction(lambda tx: dispatch.acquire(tx, self.policy, self.vault, request))

    def heartbeat(
        self,
        owner: Owner,
        page: int = 0,
        processed: int = 0,
        *,
        token: str | None = None,
        total: int | None = None,
        waited: float = 0,
    ) -> Heartbeat:
        report = Counters(page, token, processed, total)
        return self.database.transaction(lambda tx: progress.heartbeat(tx, self.policy, owner, report, waited))

    def flush(self, owner: Owner, batch_no: int, batch: Batch) -> Flushed:
        digest = digest_of(batch)
        return self.database.transaction(
            lambda tx: ingest.flush(tx, self.policy, owner, batch_no=batch_no, body_digest=digest, batch=batch)
        )

    def complete(
        self, owner: Owner, last_batch: int = 0, processed: int = 0, enumeration: Enumeration = Enumeration.PROVEN
    ) -> Outcome:
        completion = Completion(last_batch, processed, enumeration)
        return self.database.transaction(lambda tx: outcomes.complete(tx, owner, completion))

    def fail(
        self,
        owner: Owner,
        code: str = "marketplace_unavailable",
        *,
        retryable: bool = True,
        retry_after: float | None = None,
        draw: float = 0.5,
    ) -> Outcome:
        failed = Failed(Failure(code, "It did not work"), retryable, retry_after)
        return self.database.transaction(lambda tx: outcomes.fail(tx, self.policy, owner, failed, draw))

    def release(self, owner: Owner, reason: str = "drain") -> Outcome:
        return self.database.transaction(lambda tx: outcomes.release(tx, owner, reason))

    def cancel(self, task_id: int) -> Outcome:
        return self.database.transaction(lambda tx: outcomes.cancel(tx, task_id, OPERATOR))

    def rotate(self, owner: Owner, version: int, values: dict[str, str]) -> int:
        return self.database.transaction(lambda tx: credentials.rotate(tx, self.vault, owner, version, values))

    def with_policy(self, **changes: Any) -> Acting:
        """The same under a policy with these members changed."""
        return replace(self, policy=msgspec.structs.replace(self.policy, **changes))


@dataclass(frozen=True)
class Running:
    """A seeded task that runs on a server of its own, with its owner."""

    task_id: int
    account_id: int
    owner: Owner


def running(seed: Seed, server_id: str = "server-a", marketplace: str = "shopify", **columns: Any) -> Running:
    """Seed an account with a task that runs; ``columns`` are the task's, ``lease_seconds`` among them."""
    account_id = seed.account(marketplace, size=100)
    boot_id = seed.server(server_id)
    task_id = seed.task(account_id, "running", server_id=server_id, **columns)
    row = seed.row("crawl_tasks", task_id=task_id)
    return Running(task_id, account_id, Owner(task_id, server_id, boot_id, row["fencing_token"]))


def owner_of(grant: Grant | None, server_id: str, boot_id: uuid.UUID) -> Owner:
    """Who owns what a server was just given."""
    assert grant is not None, f"{server_id} was given no task"
    return Owner(grant.task_id, server_id, boot_id, grant.fencing_token)


def listing(ref: str, title: str = "A thing", price: str | None = "9.90", **members: Any) -> Listing:
    return Listing(listing_ref=ref, title=title, price=None if price is None else Decimal(price), **members)


def batch(
    listings: Sequence[Listing] = (),
    *,
    page: int = 1,
    processed: int | None = None,
    token: str | None = None,
    total: int | None = None,
    rejects: Sequence[Reject] = (),
    **members: Any,
) -> Batch:
    """A batch as the wire decodes it; by default one page, all of whose records are its listings and rejects."""
    return Batch(
        server_id="unused",
        boot_id=str(uuid.UUID(int=0)),
        fencing_token=1,
        current_page=page,
        last_cursor_token=token,
        processed_count=len(listings) + len(rejects) if processed is None else processed,
        total_discovered_count=total,
        listings=list(listings),
        rejects=list(rejects),
        cursor_format=members.pop("cursor_format", CURSOR_FORMAT),
        **members,
    )


def digest_of(sent: Batch) -> bytes:
    """The digest of the body that carries the batch."""
    return hashlib.sha256(msgspec.json.encode(sent)).digest()
