"""A background duty of the daemon: one thread that does one thing again and again, and is missed when it ends."""

import threading
import time
import traceback
from abc import ABC, abstractmethod

import structlog

_log = structlog.get_logger(__name__)


class FatalError(Exception):
    """The daemon cannot go on as what it is (another boot took over, say): it exits and is not to register again."""


class Duty(ABC):
    """One thread. ``turn`` does a round and says after how many seconds the next one is due.

    An exception that ``turn`` lets through ends the thread; ``failure`` keeps it, and the daemon ends with it.
    ``wake`` brings the next round forward. ``due_at`` is the monotonic instant at which the next round is due, or the
    one under way was.
    """

    name = "duty"

    def __init__(self) -> None:
        self.wake = threading.Event()
        self.stopping = threading.Event()
        self.failure: BaseException | None = None
        self.due_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    @abstractmethod
    def turn(self) -> float:
        """Do one round; returns the seconds until the next."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self, within_seconds: float) -> bool:
        """End after the current round; whether it ended in time."""
        self.stopping.set()
        self.wake.set()
        if self._thread.ident is not None:
            self._thread.join(within_seconds)
        return not self._thread.is_alive()

    @property
    def has_died(self) -> bool:
        """Whether the thread ended without having been told to."""
        return self._thread.ident is not None and not self._thread.is_alive() and not self.stopping.is_set()

    def _run(self) -> None:
        try:
            while not self.stopping.is_set():
                self.wake.clear()
                pause = self.turn()
                self.due_at = time.monotonic() + pause
                self.wake.wait(pause)
        except BaseException as error:
            self.failure = error
            _log.error(
                "duty_ended", duty=self.name, error=repr(error), where=traceback.format_tb(error.__traceback__)[-1]
            )
