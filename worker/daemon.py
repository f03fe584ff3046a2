"""The daemon: starts the duties, watches over them, and ends in good order.

The main thread only supervises. A duty that ends by itself brings the process down: better none than half a daemon.
"""

import os
import signal
import threading
import time
from collections.abc import Mapping

import structlog

from shared.problems import BootSuperseded, ServerIdInUse
from worker.chief import Chief
from worker.client import Client
from worker.configuration import Configuration
from worker.connectors.origin import Origin
from worker.connectors.seam import Connector
from worker.duty import Duty, FatalError
from worker.identity import Identity
from worker.notify import notify
from worker.policy_watch import PolicyWatch
from worker.registration import Registration
from worker.server_heartbeat import ServerHeartbeat
from worker.slots import Slots
from worker.task_heartbeats import TaskHeartbeats
from worker.transport import Transport

EXIT_DRAINED = 0
EXIT_BROKEN = 1
EXIT_REFUSED = 3
"""The coordinator refused this boot for good: starting again would only push out whoever took over."""
MAX_ANSWER_BYTES = 4 * 1024 * 1024
SILENT_SECONDS = 120.0
"""How long a duty's round may take before systemd's watchdog is told no more."""
_STOP_SECONDS = 2.0
_log = structlog.get_logger(__name__)


class Daemon:
    """One start of the worker; ``run`` returns the process's exit status."""

    def __init__(self, configuration: Configuration, connectors: Mapping[str, Connector]) -> None:
        identity = Identity.fresh(configuration.server_id)
        self._configuration = configuration
        self._connectors = connectors
        self._draining = threading.Event()
        self._watch = PolicyWatch()
        client = Client(
            Transport(
                configuration.coordinator,
                certificate_authority=configuration.certificate_authority,
                max_bytes=MAX_ANSWER_BYTES,
            ),
            configuration.key_id,
            configuration.secret,
            on_policy_digest=self._policy_digest,
        )
        transports = {code: Transport(Origin.parse(connector.spec.origin)) for code, connector in connectors.items()}
        self._registration = Registration(client, identity, self._watch)
        self._chief = Chief(client, identity, self._watch)
        self._slots = Slots(client, identity, self._watch, connectors, transports)
        self._task_heartbeats = TaskHeartbeats(client, identity, self._watch, lambda: self._slots.running)
        self._server_heartbeat = ServerHeartbeat(
            client, identity, self._watch, lambda: len(self._slots.running), self.drain
        )

    @property
    def _duties(self) -> list[Duty]:
        return [self._server_heartbeat, self._task_heartbeats, self._chief, self._slots]

    def run(self) -> int:
        """Register, work until told to drain, drain, deregister."""
        self._listen_to_signals()
        try:
            if not self._registration.register(self._connectors, self._draining.is_set, self._draining.wait):
                return EXIT_DRAINED
        except FatalError as error:
            _log.error("refused", reason=str(error))
            return status_after(error)
        for duty in self._duties:
            duty.start()
        notify(READY="1", STATUS="crawling")
        status = self._supervise()
        if status == EXIT_DRAINED:
            status = self._leave()
        return status

    def drain(self) -> None:
        """Begin to end in good order; may be called from any thread, and more than once."""
        self._draining.set()

    def _listen_to_signals(self) -> None:
        """Hear SIGTERM and SIGINT in a thread of their own: the first drains, a second one ends the process at once.

        A handler would run in the middle of whatever the main thread does, and wait for ever for a lock that the main
        thread holds there. Threads that are started later inherit the mask.
        """
        signals = {signal.SIGTERM, signal.SIGINT}
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)

        def listen() -> None:
            signal.sigwait(signals)
            self.drain()
            signal.sigwait(signals)
            os._exit(EXIT_BROKEN)

        threading.Thread(target=listen, name="signals", daemon=True).start()

    def _policy_digest(self, digest: str) -> None:
        self._watch.notice(digest)
        if self._watch.changed.is_set():
            self._server_heartbeat.wake.set()

    def _supervise(self) -> int:
        """Watch over the duties until told to drain; the status with which to end."""
        while not self._draining.wait(1.0):
            if (status := self._fallen()) is not None:
                return status
            self._show()
        return EXIT_DRAINED

    def _fallen(self) -> int | None:
        for duty in self._duties:
            if duty.has_died:
                _log.error("daemon_ends", duty=duty.name, reason=str(duty.failure))
                return status_after(duty.failure)
        return None

    def _show(self) -> None:
        """Tell systemd how it goes; its watchdog hears only of a daemon whose every duty makes its rounds."""
        role = "Chief and Worker" if self._chief.leads else "Worker"
        doing = "draining, " if self._draining.is_set() else ""
        notify(STATUS=f"{doing}{role}, {len(self._slots.running)} tasks")
        if all(time.monotonic() < duty.due_at + SILENT_SECONDS for duty in self._duties):
            notify(WATCHDOG="1")

    def _leave(self) -> int:
        """Let every task go, then the leadership, then the server; within the deadline."""
        ends_at = time.monotonic() + self._configuration.drain_seconds
        notify(STOPPING="1")
        _log.info("draining", tasks=len(self._slots.running))
        self._slots.let_go()
        pause = threading.Event()
        fallen = self._fallen()
        while self._slots.running and time.monotonic() < ends_at and fallen is None:
            pause.wait(0.1)
            self._show()
            fallen = self._fallen()
        left = len(self._slots.running)
        self._slots.stop(_STOP_SECONDS)
        self._chief.stop(_STOP_SECONDS)
        self._chief.resign()
        self._task_heartbeats.stop(_STOP_SECONDS)
        self._server_heartbeat.stop(_STOP_SECONDS)
        heard = self._registration.deregister(lambda: time.monotonic() >= ends_at, pause.wait)
        _log.info("drained", tasks_left=left, deregistered=heard)
        if fallen is not None:
            return fallen
        return EXIT_DRAINED if heard and not left else EXIT_BROKEN


def status_after(failure: BaseException | None) -> int:
    """The status to end with: a fresh boot would push out whoever took over, but mends a server that is not known."""
    is_for_good = failure is not None and isinstance(failure.__cause__, BootSuperseded | ServerIdInUse)
    return EXIT_REFUSED if is_for_good else EXIT_BROKEN
