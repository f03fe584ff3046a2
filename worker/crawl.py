"""Crawling one task: a thread fetches pages ahead while this one flushes them, and the task is ended in good order."""

import threading

import structlog

from shared.policy import Policy
from worker.batching import Batcher
from worker.connectors.seam import Connector
from worker.fetching import CrawlFailedError, PageReader, read_end
from worker.handoff import Handoff
from worker.owner_calls import OwnerCalls, TaskLostError
from worker.running_task import RunningTask
from worker.transport import Transport

_log = structlog.get_logger(__name__)


def crawl(task: RunningTask, calls: OwnerCalls, connector: Connector, transport: Transport, policy: Policy) -> None:
    """Crawl a task to its end, or as far as it may go: completes, fails or releases it; a lost one is only dropped.

    Never raises for anything that a marketplace, an operator or the network can do.
    """
    log = _log.bind(task_id=task.grant.task_id, fencing_token=task.grant.fencing_token)
    try:
        _end(task, calls, _pump(task, calls, connector, transport, policy))
    except _CancelledError:
        log.info("task_cancelled")
        _let_go(calls)
    except TaskLostError as lost:
        log.warning("task_dropped", reason=str(lost))
    except CrawlFailedError as failure:
        log.warning("crawl_failed", code=failure.code, message=str(failure), retryable=failure.retryable)
        _fail(calls, failure)
    finally:
        task.drop()


def _pump(task: RunningTask, calls: OwnerCalls, connector: Connector, transport: Transport, policy: Policy) -> Batcher:
    """Fetch and flush until there is nothing more to fetch; all that was fetched is durable afterwards.

    Raises ``TaskLostError`` and ``CrawlFailedError``; before the latter, too, what was fetched is flushed, so that a
    failure late in a crawl costs nothing that was read.
    """
    handoff = Handoff()
    reader = PageReader(connector, transport, task, policy)
    batcher = Batcher(task.grant.checkpoint, policy.flush_records, policy.max_batch_records)
    thread = threading.Thread(target=_read, args=(reader, handoff), name=f"fetch-{task.grant.task_id}", daemon=True)
    thread.start()
    try:
        for page in handoff.pages():
            for draft in batcher.add(page):
                _heed_cancel(task)
                calls.flush(draft)
        _heed_cancel(task)
        if draft_left := batcher.rest():
            calls.flush(draft_left)
    except BaseException:
        task.stop.set()
        raise
    finally:
        handoff.close()
        thread.join()
    if handoff.failure is not None:
        raise handoff.failure
    return batcher


def _read(reader: PageReader, handoff: Handoff) -> None:
    try:
        for page in reader.pages():
            if not handoff.put(page):
                break
    except CrawlFailedError as failure:
        handoff.end(failure)
    except Exception as error:  # a fault of ours must end the task as failed, not leave it hanging
        _log.exception("reader_failed")
        handoff.end(CrawlFailedError("internal_error", f"{type(error).__name__} while reading", retryable=True))
    else:
        handoff.end()


def _heed_cancel(task: RunningTask) -> None:
    """Whether the task is still owned is looked at by all that is said for it; this is what only the crawl knows."""
    if task.cancelled:
        raise _CancelledError


class _CancelledError(Exception):
    """The operator cancelled the task: nothing more is flushed."""


def _end(task: RunningTask, calls: OwnerCalls, batcher: Batcher) -> None:
    reached = batcher.reached
    ended = read_end(reached.last_cursor_token)
    if ended is not None:
        calls.complete(reached.processed_count, ended)
        _log.info("task_completed", task_id=task.grant.task_id, processed_count=reached.processed_count)
    else:
        calls.release(task.let_go or "drain")
        _log.info("task_released", task_id=task.grant.task_id, reason=task.let_go, page=reached.current_page)


def _let_go(calls: OwnerCalls) -> None:
    """Free the slot of a cancelled task at once, instead of when its lease ends."""
    try:
        calls.release("drain")
    except (TaskLostError, CrawlFailedError) as lost:
        _log.warning("release_not_told", reason=str(lost))


def _fail(calls: OwnerCalls, failure: CrawlFailedError) -> None:
    try:
        calls.fail(failure)
    except TaskLostError as lost:
        _log.warning("failure_not_told", reason=str(lost))
    except CrawlFailedError as refused:
        _log.error("failure_refused", code=refused.code, message=str(refused))
