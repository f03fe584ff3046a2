"""The server's slots: acquires a task for each free one and runs it in a thread of its own.

One acquire is outstanding at a time, and only for a slot whose thread has really ended: a thread that hangs keeps its
slot, here as at the coordinator.
"""

import queue
import random
import threading
from collections.abc import Mapping
from typing import Any

import structlog

from shared.problems import BootSuperseded, Problem, ServerDraining, ServerNotRegistered, StaleRequest
from worker.client import Client, CoordinatorUnreachableError, retry_after
from worker.connectors.seam import Connector
from worker.crawl import crawl
from worker.duty import Duty, FatalError
from worker.identity import Identity
from worker.owner_calls import OwnerCalls
from worker.policy_watch import PolicyWatch
from worker.running_task import Grant, RunningTask
from worker.transport import Transport

_REAP_SECONDS = 1.0
_log = structlog.get_logger(__name__)


class Slots(Duty):
    """Acquires and runs tasks; ``running`` is what the task heartbeats speak for."""

    name = "slots"

    def __init__(
        self,
        client: Client,
        identity: Identity,
        watch: PolicyWatch,
        connectors: Mapping[str, Connector],
        transports: Mapping[str, Transport],
    ) -> None:
        super().__init__()
        self._client = client
        self._identity = identity
        self._watch = watch
        self._connectors = connectors
        self._transports = transports
        self._accepting = True
        self._guard = threading.Lock()
        self._threads: dict[threading.Thread, RunningTask] = {}
        self._done: queue.SimpleQueue[threading.Thread] = queue.SimpleQueue()
        self._acquire_seq = 0
        self._outstanding = False

    @property
    def running(self) -> list[RunningTask]:
        """The tasks whose threads have not ended."""
        with self._guard:
            return list(self._threads.values())

    def let_go(self) -> None:
        """Acquire nothing more, and release every task at its next page's end."""
        with self._guard:
            self._accepting = False
            tasks = list(self._threads.values())
        for task in tasks:
            task.ask_to_let_go("drain")
        self.wake.set()

    def turn(self) -> float:
        """Reap ended threads, then acquire for one free slot; the pause depends on what came of it."""
        self._reap()
        policy = self._watch.current
        with self._guard:
            free = policy.slots_per_server - len(self._threads)
        if free <= 0 or not self._accepting or not self._watch.may_acquire:
            return _REAP_SECONDS
        return self._acquire()

    def _reap(self) -> None:
        """Free the slots of crawls that are done; each thread has but to return, so waiting for its end is short."""
        while not self._done.empty():
            thread = self._done.get()
            thread.join()
            with self._guard:
                del self._threads[thread]

    def _acquire(self) -> float:
        if not self._outstanding:
            self._acquire_seq += 1
            self._outstanding = True
        request = {
            "server_id": self._identity.server_id,
            "boot_id": self._identity.boot_id,
            "acquire_seq": self._acquire_seq,
        }
        try:
            answer = self._client.call("POST", "/tasks/acquire", request)
        except (BootSuperseded, ServerNotRegistered) as problem:
            raise FatalError(problem.detail) from problem
        except StaleRequest as problem:
            self._acquire_seq, self._outstanding = int(problem.members["acquire_seq"]), False
            return self._poll_seconds()
        except ServerDraining:
            self._outstanding = False
            return self._poll_seconds()
        except (CoordinatorUnreachableError, Problem) as error:
            # Refused or unanswered, what runs here goes on: only the boot's own end may end the daemon.
            _log.warning("acquire_failed", error=str(error))
            return 2 * self._poll_seconds()
        self._outstanding = False
        if answer.status == 204:
            asked = retry_after(answer.headers)
            return self._poll_seconds() if asked is None else max(asked, self._poll_seconds())
        self._begin(answer.document, answer.sent_at)
        return 0.0

    def _poll_seconds(self) -> float:
        """The policy's interval, jittered so that servers do not ask in step."""
        return self._watch.current.acquire_poll_seconds * random.uniform(0.5, 1.5)  # noqa: S311 - jitter is no secret

    def _begin(self, document: Mapping[str, Any], sent_at: float) -> None:
        grant = Grant.read(document)
        task = RunningTask(grant)
        task.lease.renew(sent_at, document["lease_remaining_seconds"])
        thread = threading.Thread(target=self._crawl, args=(task,), name=f"crawl-{grant.task_id}", daemon=True)
        with self._guard:
            self._threads[thread] = task
            accepting = self._accepting
        if not accepting:
            task.ask_to_let_go("drain")
        _log.info(
            "task_acquired",
            task_id=grant.task_id,
            fencing_token=grant.fencing_token,
            marketplace=grant.marketplace_code,
            page=grant.checkpoint.current_page,
        )
        thread.start()

    def _crawl(self, task: RunningTask) -> None:
        try:
            connector = self._connectors[task.grant.marketplace_code]
            calls = OwnerCalls(self._client, self._identity, task, connector.spec.cursor_format)
            crawl(task, calls, connector, self._transports[task.grant.marketplace_code], self._watch.current)
        except Exception:
            _log.exception("crawl_broke", task_id=task.grant.task_id)
        finally:
            self._done.put(threading.current_thread())
            self.wake.set()
