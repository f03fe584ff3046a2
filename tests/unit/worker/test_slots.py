"""One acquire at a time, for a slot that is really free, and repeated under its number until it is answered."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from shared import policy as policies
from shared.policy import Policy
from shared.problems import (
    BootSuperseded,
    DatabaseUnavailable,
    Forbidden,
    Problem,
    ServerDraining,
    ServerNotRegistered,
    SignatureInvalid,
    StaleRequest,
)
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock, orders
from tests.unit.worker.marketplace import ScriptedConnector, ScriptedTransport
from worker.client import CoordinatorUnreachableError
from worker.connectors.seam import PageRequest
from worker.duty import FatalError
from worker.policy_watch import PolicyWatch
from worker.slots import Slots

PATIENCE_SECONDS = 10
LOST = CoordinatorUnreachableError("lost")
COMPLETED = {"state": "completed", "eligible_at": None}


def granted(task_id: int) -> dict[str, Any]:
    """The answer to an acquire."""
    return {
        "task_id": task_id,
        "fencing_token": 3,
        "lease_remaining_seconds": 60.0,
        "last_batch_no": 0,
        "enumeration": "proven",
        "account": {"account_ref": "a", "marketplace_code": "example", "settings": {}, "size": None},
        "credentials": None,
        "checkpoint": {
            "current_page": 0,
            "last_cursor_token": None,
            "processed_count": 0,
            "total_discovered_count": None,
        },
    }


class HeldConnector(ScriptedConnector):
    """Its crawls stand until they are let go."""

    def __init__(self) -> None:
        super().__init__([1])
        self.gate = threading.Event()

    def first(self, account: Any, page_size: int) -> PageRequest:
        assert self.gate.wait(PATIENCE_SECONDS), "the test forgot to open the gate"
        return super().first(account, page_size)


class Serving:
    """A server of two slots."""

    def __init__(self, *acquires: Reply, must_understand: tuple[str, ...] = ()) -> None:
        self.watch = PolicyWatch()
        policy = Policy(slots_per_server=2, acquire_poll_seconds=1, must_understand=must_understand)
        self.watch.take(policies.to_document(policy), "digest")
        self.clock = Clock()
        self.clock.now = time.monotonic()
        self.coordinator = CoordinatorDouble(
            self.clock, acquire=list(acquires), flush=[orders()], complete=[COMPLETED], release=[COMPLETED]
        )
        self.connector = HeldConnector()
        self.slots = Slots(
            self.coordinator,
            IDENTITY,
            self.watch,
            {"example": self.connector},
            {"example": ScriptedTransport()},
        )

    def numbers(self) -> list[int]:
        """The acquire_seq of each acquire."""
        return [body["acquire_seq"] for _, path, body in self.coordinator.calls if path == "/tasks/acquire"]

    def finish(self) -> None:
        """Let the crawls end, and wait until the slots are free."""
        self.connector.gate.set()
        for _ in range(100):
            if not self.slots.running:
                return
            self.slots.wake.wait(PATIENCE_SECONDS)
            self.slots.wake.clear()
            self.slots._reap()
        raise AssertionError(f"still running: {self.slots.running}")


def test_each_free_slot_gets_a_task_and_no_slot_more_than_one() -> None:
    serving = Serving(granted(1), granted(2), granted(3))
    pauses = [serving.slots.turn() for _ in range(4)]
    assert serving.numbers() == [1, 2]
    assert pauses[:2] == [0.0, 0.0]
    assert len(serving.slots.running) == 2
    serving.finish()


def test_a_crawl_that_hangs_keeps_its_slot_until_it_has_ended() -> None:
    serving = Serving(granted(1), granted(2), granted(3), 204)
    for _ in range(2):
        serving.slots.turn()
    for task in serving.slots.running:
        task.drop()
    serving.slots.turn()
    assert serving.numbers() == [1, 2]
    serving.finish()
    serving.slots.turn()
    assert serving.numbers() == [1, 2, 3]
    serving.finish()


def test_a_crawl_that_ended_wakes_the_slots_and_frees_one_at_once() -> None:
    serving = Serving(granted(1), granted(2), 204)
    for _ in range(2):
        serving.slots.turn()
    serving.slots.wake.clear()
    serving.connector.gate.set()
    assert serving.slots.wake.wait(PATIENCE_SECONDS)
    serving.slots.turn()
    assert serving.numbers()[:3] == [1, 2, 3]
    serving.finish()


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable(), SignatureInvalid(), Forbidden()])
def test_the_number_stays_until_it_is_answered(trouble: Exception) -> None:
    serving = Serving(trouble, trouble, 204, 204)
    pauses = [serving.slots.turn() for _ in range(4)]
    assert serving.numbers() == [1, 1, 1, 2]
    assert all(pause > 0 for pause in pauses)


def test_a_task_that_a_lost_answer_brought_is_taken_from_the_repeated_one() -> None:
    serving = Serving(LOST, granted(1), 204)
    for _ in range(3):
        serving.slots.turn()
    assert serving.numbers() == [1, 1, 2]
    assert [task.grant.task_id for task in serving.slots.running] == [1]
    serving.finish()


def test_a_number_that_is_behind_is_brought_forward() -> None:
    serving = Serving(StaleRequest(acquire_seq=41), 204)
    for _ in range(2):
        serving.slots.turn()
    assert serving.numbers() == [1, 42]


def test_an_empty_queue_is_asked_again_after_the_jittered_interval() -> None:
    serving = Serving(204)
    pauses = [serving.slots.turn() for _ in range(50)]
    assert all(0.5 <= pause <= 1.5 for pause in pauses)
    assert len(set(pauses)) > 1


@pytest.mark.parametrize("end", [BootSuperseded(), ServerNotRegistered()])
def test_a_boot_whose_time_is_over_ends_the_daemon(end: Problem) -> None:
    with pytest.raises(FatalError):
        Serving(end).slots.turn()


def test_a_draining_server_is_refused_and_goes_on() -> None:
    serving = Serving(ServerDraining(), 204)
    for _ in range(2):
        serving.slots.turn()
    assert serving.numbers() == [1, 2]


def test_nothing_is_acquired_under_a_policy_that_is_not_understood() -> None:
    serving = Serving(granted(1), must_understand=("moon_phase",))
    serving.slots.turn()
    assert serving.numbers() == []


def test_letting_go_acquires_nothing_more_and_releases_what_runs() -> None:
    serving = Serving(granted(1), granted(2))
    serving.slots.turn()
    serving.slots.let_go()
    serving.slots.turn()
    assert serving.numbers() == [1]
    serving.finish()
    assert serving.coordinator.verbs()[-1] == "release"
    assert serving.coordinator.calls[-1][2]["reason"] == "drain"


def test_a_task_that_comes_while_letting_go_is_released_too() -> None:
    serving = Serving(granted(1))
    serving.coordinator.before = serving.slots.let_go
    serving.slots.turn()
    serving.coordinator.before = lambda: None
    serving.finish()
    assert serving.coordinator.verbs() == ["acquire", "release"]


def test_the_lease_counts_from_before_the_acquire_was_sent() -> None:
    serving = Serving(granted(1))
    serving.clock.now -= 30
    serving.slots.turn()
    assert 20 < serving.slots.running[0].lease.remaining_seconds <= 29
    serving.finish()
