"""The policy that this worker obeys, fetched anew when an answer carries another digest."""

import threading
from collections.abc import Mapping
from typing import Any

import structlog

from shared import policy as policies
from shared.policy import Policy

_log = structlog.get_logger(__name__)


class PolicyWatch:
    """Holds the current policy; safe to use from every thread.

    ``must_understand`` members that this version does not know stop it from acquiring, with an alarm; what runs goes
    on.
    """

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._policy = policies.DEFAULT
        self._digest = ""
        self._not_understood: list[str] = []
        self.changed = threading.Event()

    @property
    def current(self) -> Policy:
        """The policy as last taken."""
        return self._policy

    @property
    def may_acquire(self) -> bool:
        """Whether this version understands all that it must."""
        return not self._not_understood

    def notice(self, digest: str) -> None:
        """Hear the digest that an answer carried; another one sets ``changed`` for whoever fetches the policy."""
        with self._guard:
            if digest != self._digest:
                self.changed.set()

    def take(self, document: Mapping[str, Any], digest: str) -> None:
        """Obey a served policy. One that cannot be read is not obeyed: an alarm, and the former one stays."""
        try:
            policy, not_understood = policies.understand(document)
        except ValueError as error:
            _log.error("alarm", what="policy_unreadable", problem=str(error), digest=digest)
            policy, not_understood = self._policy, ["a policy that can be read"]
        with self._guard:
            self._policy, self._digest, self._not_understood = policy, digest, not_understood
            self.changed.clear()
        if not_understood:
            _log.error("alarm", what="policy_not_understood", members=not_understood, remedy="upgrade this worker")
        _log.info("policy_taken", digest=digest)
