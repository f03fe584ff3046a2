"""Heartbeats of all running tasks, independent of their crawling; and dropping those whose lease has ended."""

import time
from collections.abc import Callable

import structlog

from shared.problems import Problem, StaleTaskOwner, TaskStalled
from worker.client import Client, CoordinatorUnreachableError
from worker.duty import Duty
from worker.identity import Identity
from worker.policy_watch import PolicyWatch
from worker.running_task import RunningTask

_LOOK_SECONDS = 0.5
_RETRY_SECONDS = 1.0
_MAX_REQUEST_SECONDS = 10.0
_log = structlog.get_logger(__name__)


class TaskHeartbeats(Duty):
    """Keeps the leases of ``running()`` alive."""

    name = "task-heartbeats"

    def __init__(
        self,
        client: Client,
        identity: Identity,
        watch: PolicyWatch,
        running: Callable[[], list[RunningTask]],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._client = client
        self._identity = identity
        self._watch = watch
        self._running = running
        self._monotonic = monotonic
        self._due: dict[RunningTask, float] = {}

    def turn(self) -> float:
        """Send what is due, drop what can no longer be believed."""
        tasks = self._running()
        interval = self._watch.current.task_heartbeat_seconds
        now = self._monotonic()
        # A policy may have shortened the interval since the last heartbeat, and the lease with it.
        self._due = {task: min(self._due.get(task, now + interval), now + interval) for task in tasks}
        for task in sorted(tasks, key=self._due.__getitem__):
            _drop_ended(tasks)
            if not task.dropped.is_set() and self._due[task] <= self._monotonic():
                self._due[task] = self._monotonic() + (interval if self._beat(task) else _RETRY_SECONDS)
        return _LOOK_SECONDS

    def _beat(self, task: RunningTask) -> bool:
        """Send one heartbeat, unless the task's end is being told; whether nothing is left to be sent again."""
        if not task.speaking.acquire(blocking=False):
            return True
        try:
            return self._send(task)
        finally:
            task.speaking.release()

    def _send(self, task: RunningTask) -> bool:
        body = {
            "server_id": self._identity.server_id,
            "boot_id": self._identity.boot_id,
            "fencing_token": task.grant.fencing_token,
            **task.report(),
        }
        deadline = max(1.0, min(_MAX_REQUEST_SECONDS, self._watch.current.task_lease_seconds / 6))
        try:
            answer = self._client.call(
                "POST", f"/tasks/{task.grant.task_id}/heartbeat", body, deadline_seconds=deadline
            )
        except (StaleTaskOwner, TaskStalled) as problem:
            _log.warning("task_lost", task_id=task.grant.task_id, code=problem.code)
            task.drop()
            return True
        except (CoordinatorUnreachableError, Problem) as error:
            _log.warning("task_heartbeat_failed", task_id=task.grant.task_id, error=str(error))
            return False
        task.obey(answer.document, answer.sent_at)
        return True


def _drop_ended(tasks: list[RunningTask]) -> None:
    """Drop the tasks whose lease may no longer be believed; looked at before each request, which may take long."""
    for task in tasks:
        if not task.dropped.is_set() and not task.lease.held:
            _log.warning("lease_ended", task_id=task.grant.task_id)
            task.drop()
