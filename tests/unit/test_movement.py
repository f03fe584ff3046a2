"""What moves back between two snapshots is noticed, whatever it is."""

from __future__ import annotations

from typing import Any

import pytest

from tests.invariants.movement import Movement

TASK = {
    "task_id": 7,
    "state": "running",
    "fencing_token": 2,
    "epoch": 2,
    "current_page": 5,
    "processed_count": 50,
    "total_discovered_count": 90,
    "last_batch_no": 6,
}
ACCOUNT = {"account_id": 3, "crawl_no": 4}


def judge(movement: Movement, token: int = 1, task: dict[str, Any] | None = TASK, **account: int) -> list[str]:
    return movement.judge(token, [] if task is None else [task], [ACCOUNT | account])


def test_standing_still_and_going_forward_are_fine() -> None:
    movement = Movement()
    assert judge(movement) == judge(movement) == []
    assert judge(movement, 2, TASK | {"current_page": 6, "processed_count": 60, "last_batch_no": 7}) == []
    assert judge(movement, 2, TASK | {"epoch": 3, "current_page": 0, "processed_count": 0, "last_batch_no": 7}) == []


@pytest.mark.parametrize(
    "name", ["fencing_token", "epoch", "current_page", "processed_count", "total_discovered_count", "last_batch_no"]
)
def test_a_column_of_a_task_that_falls(name: str) -> None:
    movement = Movement()
    judge(movement)
    (found,) = judge(movement, task=TASK | {name: 1})
    assert name in found
    assert "task 7 fell" in found


def test_a_token_of_the_leadership_that_falls() -> None:
    movement = Movement()
    judge(movement, 5)
    assert judge(movement, 4) == ["I1: the leadership's token fell from 5 to 4"]


def test_a_crawl_number_that_falls() -> None:
    movement = Movement()
    judge(movement)
    assert judge(movement, crawl_no=3) == ["I9: account 3 fell from crawl 4 to 3"]


def test_a_task_that_comes_back_from_its_end() -> None:
    movement = Movement()
    judge(movement)
    assert judge(movement, task=None) == []
    assert judge(movement) == ["I9: task 7 had ended and is running again"]
