"""Flushes: a batch takes effect once, wholly, or not at all (I8).

Ledger row, listings, rejects, changes and checkpoint are written in the caller's one transaction, under the task's
lock. The lock also keeps a task to one flush at a time, and thereby an account, which has one active task.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

import msgspec

from coordinator import catalogue, orders, ownership, progress
from coordinator.catalogue import Compared, Source, Verdict
from coordinator.database import Transaction
from coordinator.orders import Orders
from coordinator.ownership import Owned, Owner
from coordinator.tasks import Counters, Task, largest_total
from shared.listing import Batch, Listing
from shared.policy import Policy
from shared.problems import BatchConflict, BatchGap, CheckpointRegression, InvalidInput
from shared.states import Enumeration


@dataclass(frozen=True)
class Tally:
    """What a batch did, as the ledger keeps it; ``duplicates`` were listings repeated within the batch."""

    appeared: int
    changed: int
    unchanged: int
    duplicates: int
    rejected: int


@dataclass(frozen=True)
class Flushed(Orders):
    """The answer to a flush; ``replayed`` when the batch had been applied before."""

    batch_no: int
    replayed: bool
    appeared: int
    changed: int
    unchanged: int
    duplicates: int
    rejected: int


def flush(tx: Transaction, policy: Policy, owner: Owner, *, batch_no: int, body_digest: bytes, batch: Batch) -> Flushed:
    """Apply the batch, or answer again what it did; either way extend the owner's lease.

    ``body_digest`` is the SHA-256 of the raw body: a retry sends identical bytes. Raises ``StaleTaskOwner``,
    ``BatchGap``, ``BatchConflict``, ``CheckpointRegression``, and ``InvalidInput`` for too many listings.
    """
    _require_size(policy, batch)
    owned = ownership.lock_owned(tx, owner)
    lease_expires_at = owned.now + timedelta(seconds=policy.task_lease_seconds)
    replayed = batch_no <= owned.task.last_batch_no
    if replayed:
        tally = _recall(tx, owned.task, batch_no, body_digest)
        tx.execute("task_extend_lease", task_id=owner.task_id, lease_expires_at=lease_expires_at)
    else:
        _require_next(owned.task, batch_no)
        checkpoint = _checkpoint(owned.task, batch)
        tally = _apply(tx, owned, batch_no, body_digest, batch)
        _advance(tx, owned, batch, batch_no=batch_no, checkpoint=checkpoint, lease_expires_at=lease_expires_at)
    given = orders.read(tx, owned.task, policy.task_lease_seconds)
    return Flushed(**asdict(given), batch_no=batch_no, replayed=replayed, **asdict(tally))


def _require_size(policy: Policy, batch: Batch) -> None:
    most = policy.max_batch_records
    if len(batch.listings) > most:
        said = f"{len(batch.listings)} listings are in the batch; split it, at most {most} are taken"
        raise InvalidInput("The batch is too large", errors={"listings": said})


def _require_next(task: Task, batch_no: int) -> None:
    expected = task.last_batch_no + 1
    if batch_no != expected:
        raise BatchGap(f"Batch {expected} comes next, not {batch_no}", expected_batch_no=expected)


def _recall(tx: Transaction, task: Task, batch_no: int, body_digest: bytes) -> Tally:
    row = tx.one("batch_read", task_id=task.task_id, batch_no=batch_no)
    if row is None or row["body_digest"] != body_digest:
        raise BatchConflict(f"Batch {batch_no} of task {task.task_id} was applied with other content")
    return msgspec.json.decode(row["answer"], type=Tally)


def _checkpoint(task: Task, batch: Batch) -> Counters:
    stored = task.checkpoint
    total = largest_total(stored.total_discovered_count, batch.total_discovered_count)
    reached = Counters(batch.current_page, batch.last_cursor_token, batch.processed_count, total)
    if reached.is_behind(stored):
        raise CheckpointRegression(
            f"The batch ends at page {reached.current_page} with {reached.processed_count} records, but page"
            f" {stored.current_page} with {stored.processed_count} records is durable already",
            current_page=stored.current_page,
            processed_count=stored.processed_count,
            last_cursor_token=stored.last_cursor_token,
        )
    return reached


def _apply(tx: Transaction, owned: Owned, batch_no: int, body_digest: bytes, batch: Batch) -> Tally:
    task, now = owned.task, owned.now
    found = catalogue.compare(tx, task.account_id, _without_duplicates(batch.listings))
    tally = _tally(batch, found)
    tx.execute(
        "batch_insert",
        task_id=task.task_id,
        batch_no=batch_no,
        epoch=task.epoch,
        fencing_token=task.fencing_token,
        body_digest=body_digest,
        answer=msgspec.json.encode(tally).decode(),
        now=now,
    )
    source = _source(task, batch_no, now)
    catalogue.write(tx, source, found)
    _insert_rejects(tx, task, batch_no, batch, now)
    catalogue.record_changes(tx, source, found)
    return tally


def _source(task: Task, batch_no: int, now: datetime) -> Source:
    return Source(
        account_id=task.account_id,
        marketplace_code=task.marketplace_code,
        crawl_no=task.crawl_no,
        task_id=task.task_id,
        fencing_token=task.fencing_token,
        batch_no=batch_no,
        now=now,
    )


def _without_duplicates(listings: list[Listing]) -> list[Listing]:
    """Each listing once, the last of a kind, in key order: two flushes that meet never lock in opposite orders."""
    latest = {listing.listing_ref: listing for listing in listings}
    return [latest[ref] for ref in sorted(latest)]


def _tally(batch: Batch, found: Sequence[Compared]) -> Tally:
    verdicts = Counter(each.verdict for each in found)
    return Tally(
        appeared=verdicts[Verdict.APPEARED],
        changed=verdicts[Verdict.CHANGED],
        unchanged=verdicts[Verdict.UNCHANGED] + verdicts[Verdict.REHASHED],
        duplicates=len(batch.listings) - len(found),
        rejected=len(batch.rejects),
    )


def _insert_rejects(tx: Transaction, task: Task, batch_no: int, batch: Batch, now: datetime) -> None:
    rows = [msgspec.structs.asdict(reject) for reject in batch.rejects]
    tx.many("reject_insert", rows, account_id=task.account_id, task_id=task.task_id, batch_no=batch_no, now=now)


def _advance(
    tx: Transaction, owned: Owned, batch: Batch, *, batch_no: int, checkpoint: Counters, lease_expires_at: datetime
) -> None:
    task = owned.task
    claimed = progress.merged(task.progress, checkpoint)
    advances = checkpoint.is_ahead_of(task.checkpoint)
    guessed = batch.guessed or task.enumeration is Enumeration.GUESSED
    tx.execute(
        "task_advance",
        task_id=task.task_id,
        last_batch_no=batch_no,
        cursor_format=batch.cursor_format,
        enumeration=Enumeration.GUESSED if guessed else Enumeration.PROVEN,
        attempts=0 if checkpoint.current_page > task.acquired_page else task.attempts,
        lease_expires_at=lease_expires_at,
        progress_at=owned.now if advances else task.progress_at,
        **asdict(checkpoint),
        **{f"progress_{name}": value for name, value in asdict(claimed).items()},
    )
