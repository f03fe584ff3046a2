"""What a running task is told, and what it reports."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.worker.granting import Clock, grant, orders
from worker.running_task import Checkpoint, Grant, RunningTask


def running(clock: Clock | None = None) -> RunningTask:
    clock = clock or Clock()
    task = RunningTask(grant(), clock)
    task.lease.renew(clock.now, 60.0)
    return task


def test_a_grant_reads_the_answer_to_an_acquire() -> None:
    document: dict[str, Any] = {
        "task_id": 7,
        "fencing_token": 3,
        "last_batch_no": 12,
        "enumeration": "guessed",
        "account": {"account_ref": "a", "marketplace_code": "m", "settings": {"x": 1}, "size": 5},
        "credentials": {"version": 2, "values": {"key": "secret"}},
        "checkpoint": {
            "epoch": 1,
            "current_page": 4,
            "last_cursor_token": "t",
            "processed_count": 400,
            "total_discovered_count": None,
        },
    }
    found = Grant.read(document)
    assert (found.task_id, found.fencing_token, found.last_batch_no, found.guessed) == (7, 3, 12, True)
    assert found.checkpoint == Checkpoint(4, "t", 400, None)
    assert (found.account.credentials, found.credentials_version) == ({"key": "secret"}, 2)
    assert "secret" not in repr(found)
    without = Grant.read({**document, "credentials": None})
    assert (without.account.credentials, without.credentials_version) == ({}, None)


def test_an_answer_without_orders_only_extends_the_lease() -> None:
    clock = Clock()
    task = running(clock)
    clock.now += 30
    task.obey(orders(credentials_version=2), clock.now)
    assert task.lease.remaining_seconds == 59.0
    assert task.credentials_version == 2
    assert not task.stop.is_set()


@pytest.mark.parametrize(
    ("order", "cancelled", "let_go"),
    [("cancel", True, None), ("drain", False, "drain"), ("yield", False, "yield")],
)
def test_orders_stop_the_reading(order: str, cancelled: bool, let_go: str | None) -> None:
    task = running()
    task.obey(orders(**{order: True}), 0.0)
    assert task.stop.is_set()
    assert (task.cancelled, task.let_go) == (cancelled, let_go)
    assert not task.dropped.is_set()


def test_the_first_reason_to_let_go_stays() -> None:
    task = running()
    task.ask_to_let_go("yield")
    task.ask_to_let_go("drain")
    assert task.let_go == "yield"


def test_a_dropped_task_stays_dropped_whatever_is_answered_then() -> None:
    task = running()
    task.drop()
    task.obey(orders(), 1000.0)
    assert not task.lease.held
    assert task.stop.is_set()


def test_demanded_waits_do_not_count_as_stalling_and_end_with_the_next_page() -> None:
    clock = Clock()
    task = running(clock)
    clock.now += 100
    task.waited(70)
    assert task.seconds_without_page == 30
    assert task.report()["rate_limit_wait_seconds"] == 70
    task.page_read(Checkpoint(1, "t", 100, 200))
    assert task.seconds_without_page == 0
    assert task.report() == {
        "current_page": 1,
        "last_cursor_token": "t",
        "processed_count": 100,
        "total_discovered_count": 200,
        "rate_limit_wait_seconds": 0.0,
    }


def test_a_declared_wait_keeps_within_the_protocol() -> None:
    task = running()
    task.waited(100_000)
    assert task.report()["rate_limit_wait_seconds"] == 86_400
