"""Heartbeats keep leases alive; a task whose lease has ended, or that has another owner, is dropped."""

from __future__ import annotations

import pytest

from shared import policy as policies
from shared.policy import Policy
from shared.problems import DatabaseUnavailable, StaleTaskOwner, TaskStalled
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock, grant, orders
from worker.client import CoordinatorUnreachableError
from worker.policy_watch import PolicyWatch
from worker.running_task import Checkpoint, RunningTask
from worker.task_heartbeats import TaskHeartbeats

POLICY = Policy(task_heartbeat_seconds=20, task_lease_seconds=60)
LOST = CoordinatorUnreachableError("lost")


class Beating:
    """Heartbeats of some tasks with a lease of 60 seconds each."""

    def __init__(self, *replies: Reply, tasks: int = 1) -> None:
        self.watch = PolicyWatch()
        self.watch.take(policies.to_document(POLICY), "digest")
        self.clock = Clock()
        self.coordinator = CoordinatorDouble(self.clock, heartbeat=list(replies or [orders()]))
        self.tasks = [RunningTask(grant(task_id=number + 1), self.clock) for number in range(tasks)]
        for task in self.tasks:
            task.lease.renew(self.clock.now, 60.0)
        self.heartbeats = TaskHeartbeats(self.coordinator, IDENTITY, self.watch, lambda: self.tasks, self.clock)
        self.heartbeats.turn()

    def after(self, seconds: float) -> int:
        """How many heartbeats are sent after so many seconds."""
        before = len(self.coordinator.calls)
        self.clock.now += seconds
        self.heartbeats.turn()
        return len(self.coordinator.calls) - before


def test_a_heartbeat_is_sent_each_interval_and_renews_the_lease() -> None:
    beating = Beating()
    assert [beating.after(19.9), beating.after(0.1), beating.after(19.9), beating.after(0.1)] == [0, 1, 0, 1]
    assert beating.tasks[0].lease.remaining_seconds == 59.0


def test_a_shorter_interval_counts_at_once() -> None:
    beating = Beating()
    assert beating.after(2) == 0
    shorter = Policy(task_heartbeat_seconds=2, task_lease_seconds=6)
    beating.watch.take(policies.to_document(shorter), "another digest")
    assert [beating.after(1), beating.after(2)] == [0, 1]


def test_it_carries_owner_and_counters() -> None:
    beating = Beating()
    beating.tasks[0].page_read(Checkpoint(2, "token", 200, 900))
    beating.tasks[0].waited(5.0)
    beating.after(20)
    assert beating.coordinator.calls == [
        (
            "POST",
            "/tasks/1/heartbeat",
            {
                "server_id": IDENTITY.server_id,
                "boot_id": IDENTITY.boot_id,
                "fencing_token": 3,
                "current_page": 2,
                "last_cursor_token": "token",
                "processed_count": 200,
                "total_discovered_count": 900,
                "rate_limit_wait_seconds": 5.0,
            },
        )
    ]


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable()])
def test_an_unanswered_heartbeat_is_repeated_soon(trouble: Exception) -> None:
    beating = Beating(trouble, orders())
    assert [beating.after(20), beating.after(0.9), beating.after(0.1), beating.after(5)] == [1, 0, 1, 0]


def test_a_task_is_dropped_a_second_before_its_lease_ends() -> None:
    beating = Beating(LOST)
    beating.after(58.999)
    assert not beating.tasks[0].dropped.is_set()
    assert beating.after(0.001) == 0
    assert beating.tasks[0].dropped.is_set()


def test_while_nothing_is_answered_every_task_is_dropped_in_time() -> None:
    beating = Beating(LOST, tasks=3)
    beating.clock.now += 40
    beating.coordinator.seconds = 8.0
    dropped: list[int] = []
    beating.coordinator.before = lambda: dropped.append(sum(task.dropped.is_set() for task in beating.tasks))
    beating.heartbeats.turn()
    assert dropped == [0, 0, 0]
    beating.heartbeats.turn()
    assert all(task.dropped.is_set() for task in beating.tasks)


def test_no_heartbeat_is_sent_for_a_task_whose_lease_ended_while_others_were() -> None:
    beating = Beating(LOST, tasks=3)
    beating.clock.now += 55
    beating.coordinator.seconds = 5.0
    beating.heartbeats.turn()
    assert len(beating.coordinator.calls) == 1
    assert all(task.dropped.is_set() for task in beating.tasks)


@pytest.mark.parametrize("loss", [StaleTaskOwner(), TaskStalled()])
def test_a_task_that_is_lost_is_dropped_at_once_and_heard_of_no_more(loss: Exception) -> None:
    beating = Beating(loss, orders())
    assert beating.after(20) == 1
    assert beating.tasks[0].dropped.is_set()
    assert beating.after(40) == 0


def test_each_task_beats_for_itself() -> None:
    beating = Beating(StaleTaskOwner(), orders(), tasks=2)
    assert beating.after(20) == 2
    assert [task.dropped.is_set() for task in beating.tasks] == [True, False]


def test_orders_are_obeyed() -> None:
    beating = Beating(orders(drain=True))
    beating.after(20)
    assert beating.tasks[0].let_go == "drain"


def test_no_heartbeat_comes_after_the_end_that_is_being_told() -> None:
    beating = Beating()
    with beating.tasks[0].speaking:
        assert beating.after(20) == 0
    assert beating.after(20) == 1
