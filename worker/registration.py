"""Arriving at the coordinator and leaving it."""

from collections.abc import Callable, Mapping
from importlib.metadata import version

import structlog

from shared.distribution import NAME
from shared.problems import Conflict, Problem
from worker.client import Client, CoordinatorUnreachableError
from worker.connectors.seam import Connector
from worker.duty import FatalError
from worker.identity import Identity
from worker.policy_watch import PolicyWatch

_log = structlog.get_logger(__name__)


class Registration:
    """Makes this boot the server's current one, and gives the server up at the end."""

    def __init__(self, client: Client, identity: Identity, watch: PolicyWatch) -> None:
        self._client = client
        self._identity = identity
        self._watch = watch

    def register(
        self, connectors: Mapping[str, Connector], until: Callable[[], bool], wait: Callable[[float], object]
    ) -> bool:
        """Register, for as long as it takes; False when ``until()`` said to stop trying.

        Raises ``FatalError`` when the coordinator refuses.
        """
        body = {
            "boot_id": self._identity.boot_id,
            "machine_id": self._identity.machine_id,
            "hostname": self._identity.hostname,
            "version": version(NAME),
            "marketplaces": [
                {"marketplace_code": code, "cursor_format": connector.spec.cursor_format}
                for code, connector in sorted(connectors.items())
            ],
        }
        try:
            answer = self._client.persist("PUT", f"/servers/{self._identity.server_id}", body, until=until, wait=wait)
        except CoordinatorUnreachableError:
            return False
        except Problem as problem:
            if until():
                return False
            raise FatalError(f"registration was refused: {problem.detail} {problem.members or ''}".strip()) from problem
        self._watch.take(answer.document["policy"], answer.document["policy_digest"])
        _log.info("registered", boot_id=self._identity.boot_id, marketplaces=sorted(connectors))
        return True

    def deregister(self, until: Callable[[], bool], wait: Callable[[float], object]) -> bool:
        """Leave: what the server still holds is free at once. Whether the coordinator heard of it."""
        path = f"/servers/{self._identity.server_id}/deregister"
        try:
            self._client.persist("POST", path, {"boot_id": self._identity.boot_id}, until=until, wait=wait)
        except Conflict:
            return True
        except (CoordinatorUnreachableError, Problem) as error:
            _log.warning("deregistration_failed", error=str(error))
            return False
        return True
