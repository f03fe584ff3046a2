"""A duty goes round until it is told to stop; one that ends by itself is missed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from worker.duty import Duty

PATIENCE_SECONDS = 10


class Counting(Duty):
    """Counts its rounds, each of which ends as it is told."""

    name = "counting"

    def __init__(self, pause: Callable[[], float]) -> None:
        super().__init__()
        self.rounds = threading.Semaphore(0)
        self._pause = pause

    def turn(self) -> float:
        self.rounds.release()
        return self._pause()

    def has_gone_round(self) -> bool:
        return self.rounds.acquire(timeout=PATIENCE_SECONDS)


def test_it_goes_round_when_due_and_when_woken_and_stops_when_told() -> None:
    pauses = iter([0.0, 0.01, 3600.0, 3600.0])
    duty = Counting(lambda: next(pauses))
    duty.start()
    assert all(duty.has_gone_round() for _ in range(3))
    duty.wake.set()
    assert duty.has_gone_round()
    assert duty.stop(PATIENCE_SECONDS)
    assert not duty.has_died


def test_being_woken_in_the_middle_of_a_round_is_not_forgotten() -> None:
    def wake_myself() -> float:
        duty.wake.set()
        return 3600.0

    duty = Counting(wake_myself)
    duty.start()
    assert all(duty.has_gone_round() for _ in range(3))
    assert duty.stop(PATIENCE_SECONDS)


def test_one_that_ends_by_itself_is_missed() -> None:
    def fail() -> float:
        raise LookupError("gone")

    duty = Counting(fail)
    assert not duty.has_died
    duty.start()
    assert duty.has_gone_round()
    duty._thread.join(PATIENCE_SECONDS)
    assert duty.has_died
    assert isinstance(duty.failure, LookupError)


def test_one_that_never_began_can_be_stopped() -> None:
    assert Counting(lambda: 0.0).stop(PATIENCE_SECONDS)
