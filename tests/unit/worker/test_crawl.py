"""A crawl flushes what was fetched, and ends its task in good order whatever happens."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from shared.policy import Policy
from shared.problems import (
    BatchConflict,
    BatchesMissing,
    DatabaseUnavailable,
    InvalidInput,
    SignatureInvalid,
    StaleTaskOwner,
    TaskStalled,
)
from shared.states import Enumeration
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock, grant, orders
from tests.unit.worker.marketplace import ScriptedConnector, ScriptedTransport
from worker.client import CoordinatorUnreachableError
from worker.connectors.failures import ConnectorFailure, Unreachable
from worker.connectors.seam import Cursor
from worker.crawl import crawl
from worker.fetching import read_end
from worker.owner_calls import OwnerCalls
from worker.running_task import Checkpoint, RunningTask

POLICY = Policy(flush_records=100, max_batch_records=150)
STANDS = {"state": "queued", "eligible_at": None}


class Crawling:
    """One acquisition of a task, from its checkpoint on."""

    def __init__(
        self,
        connector: ScriptedConnector,
        *script: int | ConnectorFailure,
        checkpoint: Checkpoint | None = None,
        last_batch_no: int = 0,
        **replies: list[Reply],
    ) -> None:
        usual: dict[str, list[Reply]] = {
            "flush": [orders()],
            "complete": [STANDS],
            "fail": [STANDS],
            "release": [STANDS],
        }
        self.clock = Clock()
        self.coordinator = CoordinatorDouble(self.clock, **{**usual, **replies})
        self.task = RunningTask(grant(checkpoint, last_batch_no=last_batch_no), self.clock)
        self.task.lease.renew(self.clock.now, 60.0)
        self.transport = ScriptedTransport(*script)
        self._connector = connector

    def run(self) -> list[str]:
        """What the coordinator was told, in order."""
        calls = OwnerCalls(self.coordinator, IDENTITY, self.task, self._connector.spec.cursor_format)
        crawl(self.task, calls, self._connector, self.transport, POLICY)
        return self.coordinator.verbs()

    def told(self, verb: str) -> list[dict[str, Any]]:
        pairs = zip(self.coordinator.verbs(), self.coordinator.calls, strict=True)
        return [body for name, (_, _, body) in pairs if name == verb]


def test_a_crawl_flushes_whole_batches_and_completes() -> None:
    crawling = Crawling(ScriptedConnector([60, 60, 60, 10]), last_batch_no=8)
    assert crawling.run() == ["flush", "flush", "complete"]
    first, second = crawling.told("flush")
    assert [path for _, path, _ in crawling.coordinator.calls[:2]] == ["/tasks/7/batches/9", "/tasks/7/batches/10"]
    assert (first["current_page"], first["processed_count"], len(first["listings"])) == (2, 120, 120)
    assert (second["current_page"], second["processed_count"], len(second["listings"])) == (4, 190, 70)
    assert first["cursor_format"] == "example/1"
    assert {first["server_id"], first["boot_id"]} == {IDENTITY.server_id, IDENTITY.boot_id}
    assert crawling.told("complete") == [
        {
            "server_id": IDENTITY.server_id,
            "boot_id": IDENTITY.boot_id,
            "fencing_token": 3,
            "last_batch": 10,
            "processed_count": 190,
            "enumeration": "proven",
        }
    ]
    assert crawling.task.dropped.is_set()


def test_a_crawl_whose_end_is_durable_has_only_to_be_completed() -> None:
    whole = Crawling(ScriptedConnector([60]))
    whole.run()
    (flushed,) = whole.told("flush")
    assert read_end(flushed["last_cursor_token"]) is Enumeration.PROVEN
    checkpoint = Checkpoint(1, flushed["last_cursor_token"], 60, None)
    resumed = Crawling(ScriptedConnector([60]), checkpoint=checkpoint, last_batch_no=1)
    assert resumed.run() == ["complete"]
    assert resumed.told("complete")[0]["last_batch"] == 1
    assert resumed.transport.urls == []


def test_an_empty_account_completes() -> None:
    crawling = Crawling(ScriptedConnector([0]))
    assert crawling.run() == ["flush", "complete"]


@pytest.mark.parametrize("order", ["drain", "yield"])
def test_told_to_let_go_it_flushes_what_was_read_and_releases(order: str) -> None:
    crawling = Crawling(ScriptedConnector([100] * 50), flush=[orders(**{order: True})])
    verbs = crawling.run()
    assert verbs[-1] == "release"
    assert crawling.told("release")[0]["reason"] == order
    assert len(crawling.transport.urls) == verbs.count("flush") <= 4
    assert crawling.told("flush")[-1]["current_page"] == len(crawling.transport.urls)


def test_a_cancelled_crawl_flushes_nothing_more_and_lets_go() -> None:
    crawling = Crawling(ScriptedConnector([100] * 50), flush=[orders(cancel=True)])
    assert crawling.run() == ["flush", "release"]


def test_a_failure_late_in_a_crawl_costs_nothing_that_was_read() -> None:
    crawling = Crawling(ScriptedConnector([60, 60, 60]), 200, 200, 404)
    assert crawling.run() == ["flush", "fail"]
    assert crawling.told("flush")[0]["processed_count"] == 120
    (failed,) = crawling.told("fail")
    assert failed["error"] == {"code": "not_found", "message": "The marketplace answered 404"}
    assert (failed["retryable"], failed["retry_after_seconds"]) == (False, None)


def test_what_the_marketplace_demands_goes_with_the_failure() -> None:
    crawling = Crawling(ScriptedConnector([60]), 430)
    crawling.run()
    assert crawling.told("fail")[0]["retry_after_seconds"] == 61.0


@pytest.mark.parametrize("loss", [StaleTaskOwner(), TaskStalled()])
def test_a_task_of_another_owner_is_dropped_without_a_word(loss: Exception) -> None:
    crawling = Crawling(ScriptedConnector([100] * 50), flush=[loss])
    assert crawling.run() == ["flush"]
    assert crawling.task.dropped.is_set()
    assert not crawling.task.lease.held


def test_a_task_that_was_dropped_meanwhile_says_nothing_more() -> None:
    crawling = Crawling(ScriptedConnector([100] * 50))
    crawling.coordinator.before = crawling.task.drop
    assert crawling.run() == ["flush"]


def test_nothing_is_said_after_the_lease_has_ended() -> None:
    crawling = Crawling(ScriptedConnector([100] * 50))
    crawling.clock.now += 59
    assert crawling.run() == []


def test_a_lost_answer_is_repeated_with_identical_bytes_until_the_lease_ends() -> None:
    lost = CoordinatorUnreachableError("lost")
    crawling = Crawling(ScriptedConnector([100]), flush=[lost, DatabaseUnavailable(), orders()])
    assert crawling.run() == ["flush", "flush", "flush", "complete"]
    first, second, third = crawling.told("flush")
    assert first == second == third
    given_up = Crawling(ScriptedConnector([100]), flush=[lost])
    given_up.coordinator.seconds = 20.0
    assert set(given_up.run()) == {"flush"}
    assert given_up.clock.now >= 1059


@pytest.mark.parametrize(
    ("refusal", "retryable"),
    [(BatchConflict(), True), (BatchesMissing(), True), (SignatureInvalid(), True), (InvalidInput(), False)],
)
def test_a_batch_that_is_refused_fails_the_task(refusal: Any, retryable: bool) -> None:
    crawling = Crawling(ScriptedConnector([100] * 50), flush=[refusal])
    assert crawling.run() == ["flush", "fail"]
    (failed,) = crawling.told("fail")
    assert (failed["error"]["code"], failed["retryable"]) == (refusal.code, retryable)


def test_a_completion_that_is_refused_fails_the_task() -> None:
    crawling = Crawling(ScriptedConnector([100]), complete=[BatchesMissing()])
    assert crawling.run() == ["flush", "complete", "fail"]


def test_a_fault_of_ours_fails_the_task_instead_of_hanging() -> None:
    class Broken(ScriptedConnector):
        def normalize(self, raw: object) -> Any:
            raise LookupError(raw)

    crawling = Crawling(Broken([10]))
    assert crawling.run() == ["fail"]
    assert crawling.told("fail")[0]["error"]["code"] == "internal_error"


def test_a_long_message_is_cut_to_what_the_protocol_takes() -> None:
    crawling = Crawling(ScriptedConnector([10], capabilities=None), *[Unreachable("x" * 5000)] * 5)
    crawling.task.stop.wait = lambda timeout=None: False  # type: ignore[method-assign]
    crawling.run()
    assert len(crawling.told("fail")[0]["error"]["message"]) == 1024


def test_the_reader_is_at_most_two_pages_ahead_of_the_flush() -> None:
    crawling = Crawling(ScriptedConnector([100] * 20))
    ahead: list[int] = []
    moment = threading.Event()

    def note() -> None:
        """Let the reader get as far ahead as it should, then see how far it got."""
        flushed = len(crawling.told("flush"))
        for _ in range(5000):
            if len(crawling.transport.urls) >= min(20, flushed + 2):
                break
            moment.wait(0.001)
        ahead.append(len(crawling.transport.urls) - flushed)

    crawling.coordinator.before = note
    crawling.run()
    assert ahead[:18] == [2] * 18


def test_a_dead_cursor_is_told_as_such() -> None:
    token = Cursor("1", 0.0).encode()
    crawling = Crawling(ScriptedConnector([1, 1]), checkpoint=Checkpoint(1, token, 1, None))
    assert crawling.run() == ["fail"]
    assert crawling.told("fail")[0]["error"]["code"] == "cursor_expired"
