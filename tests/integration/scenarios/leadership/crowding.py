"""Calls that meet: all at the same moment, or all at the same lock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tests.integration.scenarios.leadership.candidate import Call
from tests.integration.served.server import Answer
from tests.integration.waits import Connection, held, in_thread, together, until_lock_waits

Meet: TypeAlias = Callable[[Sequence[Call]], list[Answer]]

LEADERSHIP_ROW = "SELECT * FROM leadership FOR UPDATE"
DEADLINE_SECONDS = 30


@dataclass(frozen=True)
class Crowding:
    """Lets calls go; ``holder`` locks against them, ``watcher`` sees them wait."""

    holder: Connection
    watcher: Connection

    def at_once(self, calls: Sequence[Call]) -> list[Answer]:
        """All leave when the last thread is ready."""
        answers = together(*calls)
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        return answers

    def at_the_lock(self, calls: Sequence[Call], meanwhile: Callable[[], object] = lambda: None) -> list[Answer]:
        """All of them wait for the leadership row; ``meanwhile`` is done, then the row is let go."""
        with held(self.holder, LEADERSHIP_ROW):
            futures = [in_thread(call) for call in calls]
            until_lock_waits(self.watcher, len(calls))
            meanwhile()
        return [future.result(DEADLINE_SECONDS) for future in futures]
