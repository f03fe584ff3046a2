"""Ctrl-C and termination, noticed between steps: nothing is ever torn out of the middle of starting a process."""

import signal
import time
from collections.abc import Callable
from types import FrameType

Pause = Callable[[float], None]
"""Waits for so many seconds. What waits in this package waits by one, so that its caller may end the wait."""

SLICE_SECONDS = 0.1


class Interrupted(Exception):  # noqa: N818 - somebody's wish, not an error
    """Somebody asked to stop."""

    def __init__(self, signal_number: int) -> None:
        super().__init__(signal.Signals(signal_number).name)
        self.signal_number = signal_number

    @property
    def exit_status(self) -> int:
        """What a shell expects of a program that a signal ended."""
        return 128 + self.signal_number


class Interruption:
    """Remembers the signals that asked to stop.

    Handlers only count: an exception that is raised anywhere would lose a process just started and not yet noted.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self.requests = 0

    def listen(self) -> None:
        """Take over SIGINT, SIGTERM and SIGHUP (a closed terminal) for the rest of the process."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._note)

    def pause(self, seconds: float) -> None:
        """Wait, unless somebody asks to stop. Raises ``Interrupted``, also for a wait of nothing."""
        ends_at = time.monotonic() + seconds
        self._judge()
        while (left := ends_at - time.monotonic()) > 0:
            time.sleep(min(left, SLICE_SECONDS))
            self._judge()

    def _judge(self) -> None:
        if self._first is not None:
            raise Interrupted(self._first)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.requests += 1
        self._first = self._first or number
