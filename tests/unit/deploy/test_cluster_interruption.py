"""Signals are noted and end the next wait, nothing else."""

import os
import signal
from collections.abc import Iterator

import pytest

from deploy.cluster.interruption import Interrupted, Interruption


@pytest.fixture
def interruption() -> Iterator[Interruption]:
    """One that listens; the handlers of the test run come back at the end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    listening = Interruption()
    listening.listen()
    yield listening
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_next_wait(interruption: Interruption, number: signal.Signals, status: int) -> None:
    interruption.pause(0)
    os.kill(os.getpid(), number)
    with pytest.raises(Interrupted) as interrupted:
        interruption.pause(3600)
    assert interrupted.value.exit_status == status


def test_the_first_signal_decides_and_all_are_counted(interruption: Interruption) -> None:
    os.kill(os.getpid(), signal.SIGINT)
    os.kill(os.getpid(), signal.SIGTERM)
    assert interruption.requests == 2
    with pytest.raises(Interrupted, match="SIGINT"):
        interruption.pause(0)
