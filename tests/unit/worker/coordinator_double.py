"""A coordinator whose answers are scripted, in place of the signed client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.unit.worker.granting import Clock
from worker.client import Answer, Client, CoordinatorUnreachableError
from worker.connectors.origin import Origin
from worker.transport import Transport

Reply = Mapping[str, Any] | Exception | int
"""A document, an error to raise, or a status without a document."""


class CoordinatorDouble(Client):
    """Answers each call by ``replies``: by its path's list in order, the last one for ever.

    ``calls`` are method, path and body. ``before`` runs while an answer is under way, ``seconds`` long.
    """

    def __init__(self, clock: Clock, **replies: list[Reply]) -> None:
        super().__init__(Transport(Origin.parse("http://127.0.0.1:9")), "server-1", b"k" * 32)
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self.deadlines: list[float] = []
        self.replies = replies
        self.seconds = 0.0
        self.before: Callable[[], None] = lambda: None
        self._clock = clock

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        deadline_seconds: float = 10.0,
    ) -> Answer:
        document = json.loads(body) if isinstance(body, bytes) else dict(body or {})
        self.calls.append((method, path, document))
        self.deadlines.append(deadline_seconds)
        sent_at = self._clock.now
        self._clock.now += min(self.seconds, deadline_seconds)
        if self.seconds > deadline_seconds:
            raise CoordinatorUnreachableError("overdue")
        self.before()
        replies = self.replies[self._verb(path)]
        reply = replies.pop(0) if len(replies) > 1 else replies[0]
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, int):
            return Answer(reply, {}, {}, sent_at)
        return Answer(200, dict(reply), {}, sent_at)

    def verbs(self) -> list[str]:
        """What was called, in order."""
        return [self._verb(path) for _, path, _ in self.calls]

    @staticmethod
    def _verb(path: str) -> str:
        words = path.partition("?")[0].strip("/").split("/")
        return "flush" if "batches" in words else words[-1]
