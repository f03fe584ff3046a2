"""Outcomes: how a task's owner ends its acquisition, and how an operator ends a task."""

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import msgspec

from coordinator import audit, endings, events, ownership, seats, tasks, waiting
from coordinator.audit import Actor
from coordinator.database import Transaction
from coordinator.ownership import Owned, Owner
from coordinator.tasks import Task
from coordinator.waiting import Failure
from shared.policy import Policy
from shared.problems import BatchesMissing, CompletionConflict, TaskEnded
from shared.scheduling import backoff_seconds
from shared.states import ENDED_STATES, Enumeration, TaskState

BAD_CREDENTIALS = "bad_credentials"
CURSOR_EXPIRED = "cursor_expired"


@dataclass(frozen=True)
class Outcome:
    """Where the task stands now; ``eligible_at`` when it must not run before."""

    state: TaskState
    eligible_at: datetime | None = None


@dataclass(frozen=True)
class Completion:
    """What the owner says it has completed: the last batch's number, the epoch's raw records, how it knows the end."""

    last_batch: int
    processed_count: int
    enumeration: Enumeration


def complete(tx: Transaction, owner: Owner, completion: Completion) -> Outcome:
    """Complete a task once (I9): its account gets size, crawl number and next due time, its slot is free.

    The same completion again is answered alike. Raises ``CompletionConflict`` for another one of the same owner,
    ``BatchesMissing`` when the ledger or the checkpoint end elsewhere, and ``StaleTaskOwner``.
    """
    task = tasks.lock(tx, owner.task_id)
    now = tx.now()
    digest = _digest(owner, completion)
    if task.state is TaskState.COMPLETED and ownership.is_last_owner(owner, task):
        if task.completion_digest != digest:
            raise CompletionConflict(f"Task {task.task_id} was completed with other values, and stays so")
        return Outcome(TaskState.COMPLETED)
    ownership.require(owner, task, now)
    _require_whole(task, completion)
    return _completed(tx, Owned(task, now), completion, digest)


def release(tx: Transaction, owner: Owner, reason: str) -> Outcome:
    """Let a running task go, back to the queue with its key and checkpoint; it does not count as an attempt.

    ``reason`` is ``drain`` or ``yield``. A task that is to be cancelled is cancelled. Raises ``StaleTaskOwner``.
    """
    owned = ownership.lock_owned(tx, owner)
    task, now = owned.task, owned.now
    if task.cancel_requested:
        return _cancelled(tx, task, now)
    stands = waiting.send_back(tx, task, attempts=task.attempts)
    events.of_task(tx, "released", task, now, reason=reason, state=stands.state)
    return Outcome(stands.state, stands.eligible_at)


@dataclass(frozen=True)
class Failed:
    """What the owner says went wrong; ``retry_after_seconds`` is what the marketplace demanded, if it did."""

    failure: Failure
    retryable: bool
    retry_after_seconds: float | None = None


def fail(tx: Transaction, policy: Policy, owner: Owner, failed: Failed, draw: float) -> Outcome:
    """End an acquisition that failed: the task waits and is tried again, or has failed for good.

    ``draw``, uniform in [0, 1), is the jitter of the wait. Raises ``StaleTaskOwner``.
    """
    owned = ownership.lock_owned(tx, owner)
    task = owned.task
    if task.cancel_requested:
        return _cancelled(tx, task, owned.now)
    if failed.failure.code == BAD_CREDENTIALS:
        if not _credentials_changed(tx, task):
            return _suspended(tx, owned, failed.failure)
        failed = replace(failed, retryable=True)
    if failed.failure.code == CURSOR_EXPIRED:
        return _crawl_again(tx, policy, owned, failed.failure)
    return _retry(tx, policy, owned, failed, draw)


def cancel(tx: Transaction, task_id: int, actor: Actor) -> Outcome:
    """An operator cancels a task: a waiting one ends at once, the owner of a running one is told to let it go.

    Repeating it while the task runs changes nothing. Raises ``NotFound``, and ``TaskEnded`` when nothing is left to
    cancel.
    """
    task = tasks.lock(tx, task_id)
    now = tx.now()
    if task.state in ENDED_STATES:
        raise TaskEnded(f"Task {task_id} is {task.state.value} already")
    if task.state is not TaskState.RUNNING:
        outcome = _cancelled(tx, task, now)
    else:
        tx.execute("task_request_cancel", task_id=task_id)
        events.of_task(tx, "cancel_requested", task, now)
        outcome = Outcome(TaskState.RUNNING)
    audit.record(tx, actor, "task.cancel", f"task:{task_id}", {"before": task.state, "after": outcome.state})
    return outcome


def _completed(tx: Transaction, owned: Owned, completion: Completion, digest: bytes) -> Outcome:
    task, now = owned.task, owned.now
    guessed = Enumeration.GUESSED in (task.enumeration, completion.enumeration)
    enumeration = Enumeration.GUESSED if guessed else Enumeration.PROVEN
    tx.execute("task_complete", task_id=task.task_id, now=now, completion_digest=digest, enumeration=enumeration)
    seats.free(tx, task.task_id)
    size = completion.processed_count
    tx.execute("outcome_account_completed", account_id=task.account_id, now=now, size=size, crawl_no=task.crawl_no)
    events.of_task(tx, "completed", task, now, processed_count=size, enumeration=enumeration, epoch=task.epoch)
    return Outcome(TaskState.COMPLETED)


def _cancelled(tx: Transaction, task: Task, now: datetime) -> Outcome:
    endings.cancel(tx, task, now)
    events.of_task(tx, "cancelled", task, now)
    return Outcome(TaskState.CANCELLED)


def _suspended(tx: Transaction, owned: Owned, failure: Failure) -> Outcome:
    task = owned.task
    attempts = task.attempts_at_end
    suspended = endings.suspend(tx, task, owned.now, attempts=attempts, failure=failure)
    events.of_task(tx, "failed", task, owned.now, code=failure.code, attempts=attempts, account_suspended=suspended)
    return Outcome(TaskState.FAILED)


def _crawl_again(tx: Transaction, policy: Policy, owned: Owned, failure: Failure) -> Outcome:
    """Another epoch of the same task, if it may have one: batch numbers run on, the checkpoint starts anew."""
    task, now = owned.task, owned.now
    if task.epoch >= policy.max_epochs:
        return _ended(tx, policy, owned, task.attempts_at_end, failure)
    epoch = waiting.open_epoch(tx, task)
    stands = waiting.send_back(tx, task, attempts=task.attempts, failure=failure)
    events.of_task(tx, "epoch_opened", task, now, epoch=epoch, code=failure.code, state=stands.state)
    return Outcome(stands.state, stands.eligible_at)


def _retry(tx: Transaction, policy: Policy, owned: Owned, failed: Failed, draw: float) -> Outcome:
    """Delay the task, longer with each attempt in a row that made nothing durable, until there were too many.

    A marketplace that demands to be left alone for longer than a task lease gets its way: that is no attempt.
    """
    task, now = owned.task, owned.now
    attempts, demanded = task.attempts_at_end, failed.retry_after_seconds or 0.0
    told_to_wait = failed.retryable and demanded > policy.task_lease_seconds
    if told_to_wait:
        attempts = task.attempts
    elif not failed.retryable or attempts >= policy.max_attempts:
        return _ended(tx, policy, owned, attempts, failed.failure)
    backoff = backoff_seconds(max(1, attempts), policy.retry_base_seconds, policy.retry_cap_seconds, draw)
    eligible_at = now + timedelta(seconds=demanded if told_to_wait else max(backoff, demanded))
    stands = waiting.send_back(tx, task, attempts=attempts, eligible_at=eligible_at, failure=failed.failure)
    events.of_task(
        tx,
        "delayed",
        task,
        now,
        code=failed.failure.code,
        attempts=attempts,
        eligible_at=eligible_at,
        state=stands.state,
    )
    return Outcome(stands.state, stands.eligible_at)


def _ended(tx: Transaction, policy: Policy, owned: Owned, attempts: int, failure: Failure) -> Outcome:
    endings.fail(tx, policy, owned.task, owned.now, attempts=attempts, failure=failure)
    events.of_task(tx, "failed", owned.task, owned.now, code=failure.code, attempts=attempts)
    return Outcome(TaskState.FAILED)


def _credentials_changed(tx: Transaction, task: Task) -> bool:
    """Whether the account's credentials are newer than the acquisition: then others than these were bad."""
    row = tx.one("credentials_read_change", account_id=task.account_id)
    return row is not None and task.acquired_at is not None and row["updated_at"] > task.acquired_at


def _require_whole(task: Task, completion: Completion) -> None:
    stored = (task.last_batch_no, task.checkpoint.processed_count)
    if (completion.last_batch, completion.processed_count) != stored:
        raise BatchesMissing(
            f"The completion ends at batch {completion.last_batch} with {completion.processed_count} records, but batch"
            f" {stored[0]} with {stored[1]} records is what is durable: flush the rest first",
            last_batch_no=stored[0],
            processed_count=stored[1],
        )


def _digest(owner: Owner, completion: Completion) -> bytes:
    return hashlib.sha256(msgspec.json.encode([owner, completion])).digest()
