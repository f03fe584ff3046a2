"""What a task's owner says to the coordinator: batches, completion, failure, release.

Each is repeated until it is answered or the lease may no longer be believed; repeating them is harmless by the
protocol. An answer that somebody else owns the task drops it.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import structlog

from shared.problems import Conflict, Problem, StaleTaskOwner, TaskStalled, Unauthorized, UnknownProblem
from shared.states import Enumeration
from worker.batching import Draft
from worker.client import Answer, Client, CoordinatorUnreachableError
from worker.fetching import CrawlFailedError
from worker.identity import Identity
from worker.running_task import RunningTask

MAX_REQUEST_SECONDS = 30.0
MAX_MESSAGE_CHARACTERS = 1024
_log = structlog.get_logger(__name__)


class TaskLostError(Exception):
    """The task is no longer owned by this process: let go of everything that belongs to it."""


class OwnerCalls:
    """Speaks for one running task."""

    def __init__(self, client: Client, identity: Identity, task: RunningTask, cursor_format: str) -> None:
        self._client = client
        self._task = task
        self._cursor_format = cursor_format
        self._fenced = {
            "server_id": identity.server_id,
            "boot_id": identity.boot_id,
            "fencing_token": task.grant.fencing_token,
        }
        self.last_batch_no = task.grant.last_batch_no

    def flush(self, draft: Draft) -> None:
        """Make a batch durable. Raises ``TaskLostError``, and ``CrawlFailedError`` when it is refused."""
        number = self.last_batch_no + 1
        checkpoint = draft.checkpoint
        body = msgspec.json.encode(
            {
                **self._fenced,
                "current_page": checkpoint.current_page,
                "last_cursor_token": checkpoint.last_cursor_token,
                "processed_count": checkpoint.processed_count,
                "total_discovered_count": checkpoint.total_discovered_count,
                "cursor_format": self._cursor_format,
                "guessed": draft.guessed,
                "rejects": draft.rejects,
                "listings": draft.listings,
            }
        )
        answer = self._say("PUT", f"batches/{number}", body)
        self.last_batch_no = number
        self._task.obey(answer.document, answer.sent_at)

    def complete(self, processed_count: int, enumeration: Enumeration) -> None:
        """The crawl has ended and all of it is durable."""
        self._end(
            "complete",
            {
                **self._fenced,
                "last_batch": self.last_batch_no,
                "processed_count": processed_count,
                "enumeration": enumeration,
            },
        )

    def fail(self, failure: CrawlFailedError) -> None:
        """The crawl cannot go on here."""
        error = {"code": failure.code, "message": str(failure)[:MAX_MESSAGE_CHARACTERS]}
        self._end(
            "fail",
            {
                **self._fenced,
                "error": error,
                "retryable": failure.retryable,
                "retry_after_seconds": failure.retry_after_seconds,
            },
        )

    def release(self, reason: str) -> None:
        """Let go in good order; a task that is to be cancelled is cancelled by it."""
        self._end("release", {**self._fenced, "reason": reason})

    def _end(self, verb: str, body: dict[str, Any]) -> None:
        with self._task.speaking:
            self._say("POST", verb, body)

    def _say(self, method: str, verb: str, body: dict[str, Any] | bytes) -> Answer:
        lease = self._task.lease
        given_up: Callable[[], bool] = lambda: not lease.held  # noqa: E731 - asked again at each attempt
        if given_up():
            raise TaskLostError("the lease has ended")
        try:
            return self._client.persist(
                method,
                f"/tasks/{self._task.grant.task_id}/{verb}",
                body,
                until=given_up,
                wait=self._task.dropped.wait,
                deadline_seconds=max(1.0, min(MAX_REQUEST_SECONDS, lease.remaining_seconds)),
            )
        except (StaleTaskOwner, TaskStalled) as problem:
            raise TaskLostError(problem.detail) from problem
        except CoordinatorUnreachableError as error:
            raise TaskLostError(str(error)) from error
        except Problem as problem:
            if given_up():
                raise TaskLostError(problem.detail) from problem
            retryable = isinstance(problem, Conflict | Unauthorized | UnknownProblem)
            raise CrawlFailedError(problem.code, problem.detail, retryable=retryable) from problem
