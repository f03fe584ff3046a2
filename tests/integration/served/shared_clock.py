"""The moved clock of several processes: what one sets, the pools of all of them see.

The instant stands in a file; each process reads it when a connection leaves its pool.
"""

from __future__ import annotations

import datetime
import os
from pathlib import Path

from tests.integration.clock import Clock


class SharedClock(Clock):
    """A clock that also moves in the processes that follow its file."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self.release()

    def set(self, instant: datetime.datetime) -> None:
        """Stop all clocks at ``instant``."""
        super().set(instant)
        self._write(instant.isoformat())

    def release(self) -> None:
        """Let the real time through again, everywhere."""
        super().release()
        self._write("")

    def _write(self, text: str) -> None:
        made = self._file.with_suffix(".new")
        made.write_text(text)
        os.replace(made, self._file)


class FollowedClock(Clock):
    """The same clock as another process sees it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def apply(self, dbapi_connection: object) -> None:
        """Give a raw connection the time that the file says."""
        text = self._file.read_text()
        self._instant = datetime.datetime.fromisoformat(text) if text else None
        super().apply(dbapi_connection)
