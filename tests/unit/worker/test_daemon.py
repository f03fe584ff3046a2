"""With which status a daemon ends decides whether it is started again."""

from __future__ import annotations

import pytest

from shared.problems import BootSuperseded, InvalidInput, Problem, ServerIdInUse, ServerNotRegistered
from worker.daemon import EXIT_BROKEN, EXIT_REFUSED, status_after
from worker.duty import FatalError


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (BootSuperseded(), EXIT_REFUSED),
        (ServerIdInUse(), EXIT_REFUSED),
        (ServerNotRegistered(), EXIT_BROKEN),
        (InvalidInput(), EXIT_BROKEN),
    ],
)
def test_only_who_would_push_out_another_is_not_started_again(problem: Problem, status: int) -> None:
    failure = FatalError(problem.detail)
    failure.__cause__ = problem
    assert status_after(failure) == status


def test_a_fault_of_ours_is_started_again() -> None:
    assert status_after(RuntimeError("a fault")) == EXIT_BROKEN
    assert status_after(None) == EXIT_BROKEN
