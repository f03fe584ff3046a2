"""How long this process may believe in what the coordinator granted (I11).

Believed on the monotonic clock, counted from before the request that renewed it left, and less a margin: the holder
gives up before the coordinator would let another one have it.
"""

import threading
import time
from collections.abc import Callable

MARGIN_SECONDS = 1.0


class Lease:
    """A belief that can be renewed and lost; safe to use from every thread."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._guard = threading.Lock()
        self._sent_at = self._ends_at = float("-inf")
        self._lost = False

    def renew(self, sent_at: float, remaining_seconds: float) -> None:
        """Believe for ``remaining_seconds`` from ``sent_at``, less the margin.

        Of two requests the one that was sent last counts, whichever answer comes last. Under a policy with a shorter
        lease that ends sooner than what was believed before, as it does at the coordinator.
        """
        with self._guard:
            if sent_at >= self._sent_at:
                self._sent_at = sent_at
                self._ends_at = sent_at + remaining_seconds - MARGIN_SECONDS

    def lose(self) -> None:
        """Stop believing for good."""
        with self._guard:
            self._lost = True

    @property
    def remaining_seconds(self) -> float:
        """How long it may still be believed; 0 when no longer."""
        with self._guard:
            return 0.0 if self._lost else max(0.0, self._ends_at - self._monotonic())

    @property
    def held(self) -> bool:
        """Whether it may be believed now."""
        return self.remaining_seconds > 0
