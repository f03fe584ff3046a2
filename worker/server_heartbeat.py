"""The server's own heartbeat: shows that it lives, learns whether to drain, and keeps the policy up to date."""

import random
from collections.abc import Callable

import structlog

from shared.problems import BootSuperseded, Problem, ServerNotRegistered
from worker.client import Client, CoordinatorUnreachableError
from worker.duty import Duty, FatalError
from worker.identity import Identity
from worker.policy_watch import PolicyWatch
from worker.telemetry import Telemetry

_RETRY_SECONDS = 2.0
_log = structlog.get_logger(__name__)


class ServerHeartbeat(Duty):
    """Calls ``on_drain`` when an operator wants the server drained."""

    name = "server-heartbeat"

    def __init__(
        self,
        client: Client,
        identity: Identity,
        watch: PolicyWatch,
        running_tasks: Callable[[], int],
        on_drain: Callable[[], None],
    ) -> None:
        super().__init__()
        self._client = client
        self._identity = identity
        self._watch = watch
        self._running_tasks = running_tasks
        self._on_drain = on_drain
        self._telemetry = Telemetry()

    def turn(self) -> float:
        """Fetch the policy if it changed, then send one heartbeat; a failed one is repeated soon."""
        try:
            if self._watch.changed.is_set():
                served = self._client.call("GET", "/policy").document
                self._watch.take(served["policy"], served["digest"])
            self._beat()
        except (BootSuperseded, ServerNotRegistered) as problem:
            raise FatalError(problem.detail) from problem
        except (CoordinatorUnreachableError, Problem) as error:
            _log.warning("server_heartbeat_failed", error=str(error))
            return random.uniform(0.5, 1.0) * min(_RETRY_SECONDS, self._interval)  # noqa: S311 - jitter is no secret
        return self._interval

    @property
    def _interval(self) -> float:
        return self._watch.current.server_heartbeat_seconds

    def _beat(self) -> None:
        answer = self._client.call(
            "POST",
            f"/servers/{self._identity.server_id}/heartbeat",
            {"boot_id": self._identity.boot_id, "telemetry": self._telemetry.sample(self._running_tasks())},
        )
        if answer.document["drain"]:
            self._on_drain()
