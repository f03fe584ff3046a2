"""Completion: once, by its owner, when nothing is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from coordinator.outcomes import Outcome
from shared.problems import BatchesMissing, CompletionConflict, StaleTaskOwner
from shared.states import Enumeration, TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, Running, batch, listing, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

COMPLETED = Outcome(TaskState.COMPLETED)


@pytest.fixture
def crawl(acting: Acting, seed: Seed, clock: Clock) -> Running:
    """A crawl with one flushed batch of two listings and a reject's worth of records: 3 in all."""
    made = running(seed, attempts=2)
    acting.flush(made.owner, 1, batch([listing("a"), listing("b")], processed=3))
    return made


class TestCompleted:
    def test_task_slot_and_account_follow(
        self, acting: Acting, seed: Seed, clock: Clock, crawl: Running, sound: Callable[[], None]
    ) -> None:
        seed.update("accounts", {"account_id": crawl.account_id}, consecutive_failures=3)
        version = seed.row("accounts", account_id=crawl.account_id)["row_version"]
        clock.advance(seconds=10)
        assert acting.complete(crawl.owner, 1, 3) == COMPLETED
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["state"], task["ended_at"], task["enumeration"]) == ("completed", clock.now, "proven")
        assert (task["server_id"], task["lease_expires_at"]) == ("server-a", None)
        assert seed.count("server_slots", task_id=crawl.task_id) == 0
        account = seed.row("accounts", account_id=crawl.account_id)
        assert (account["size"], account["crawl_no"], account["consecutive_failures"]) == (3, 1, 0)
        assert account["next_due_at"] == clock.now + seconds(account["refresh_interval_seconds"])
        assert (account["last_completed_at"], account["row_version"]) == (clock.now, version + 1)
        event = seed.row("task_events", task_id=crawl.task_id, kind="completed")
        assert (event["server_id"], event["fencing_token"]) == ("server-a", 1)
        sound()

    def test_an_account_may_be_empty(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        assert acting.complete(crawl.owner, 0, 0) == COMPLETED
        assert seed.row("accounts", account_id=crawl.account_id)["size"] == 0

    @pytest.mark.parametrize(
        ("stored", "said", "kept"),
        [("proven", "proven", "proven"), ("proven", "guessed", "guessed"), ("guessed", "proven", "guessed")],
    )
    def test_a_guess_stays_a_guess(self, acting: Acting, seed: Seed, stored: str, said: str, kept: str) -> None:
        crawl = running(seed, enumeration=stored)
        acting.complete(crawl.owner, 0, 0, Enumeration(said))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["enumeration"] == kept

    def test_a_crawl_that_was_to_be_cancelled_may_still_complete(
        self, acting: Acting, seed: Seed, crawl: Running
    ) -> None:
        seed.update("crawl_tasks", {"task_id": crawl.task_id}, cancel_requested=True)
        assert acting.complete(crawl.owner, 1, 3) == COMPLETED


class TestOnce:
    def test_the_same_again_is_answered_alike(self, acting: Acting, seed: Seed, clock: Clock, crawl: Running) -> None:
        acting.complete(crawl.owner, 1, 3)
        account = seed.row("accounts", account_id=crawl.account_id)
        clock.advance(seconds=100_000)
        assert acting.complete(crawl.owner, 1, 3) == COMPLETED
        assert seed.row("accounts", account_id=crawl.account_id) == account
        assert seed.count("task_events", task_id=crawl.task_id, kind="completed") == 1

    @pytest.mark.parametrize(
        "other", [(2, 3, Enumeration.PROVEN), (1, 4, Enumeration.PROVEN), (1, 3, Enumeration.GUESSED)]
    )
    def test_a_different_one_is_refused(
        self, acting: Acting, seed: Seed, crawl: Running, other: tuple[int, int, Enumeration]
    ) -> None:
        acting.complete(crawl.owner, 1, 3)
        before = seed.row("crawl_tasks", task_id=crawl.task_id)
        with pytest.raises(CompletionConflict):
            acting.complete(crawl.owner, *other)
        assert seed.row("crawl_tasks", task_id=crawl.task_id) == before

    def test_another_owners_repeat_is_none(self, acting: Acting, crawl: Running) -> None:
        acting.complete(crawl.owner, 1, 3)
        with pytest.raises(StaleTaskOwner):
            acting.complete(replace(crawl.owner, fencing_token=2), 1, 3)

    def test_two_at_once_complete_it_once(
        self,
        acting: Acting,
        seed: Seed,
        crawl: Running,
        holder: Connection,
        watcher: Connection,
        sound: Callable[[], None],
    ) -> None:
        with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
            answers = [in_thread(lambda: acting.complete(crawl.owner, 1, 3)) for _ in range(2)]
            until_lock_waits(watcher, 2)
        assert [answer.result(10) for answer in answers] == [COMPLETED, COMPLETED]
        assert seed.row("accounts", account_id=crawl.account_id)["row_version"] == 2
        assert seed.count("task_events", kind="completed") == 1
        sound()


class TestRefused:
    @pytest.mark.parametrize(("last_batch", "processed"), [(0, 3), (2, 3), (1, 2), (1, 4)])
    def test_while_something_is_missing(
        self, acting: Acting, seed: Seed, crawl: Running, last_batch: int, processed: int
    ) -> None:
        with pytest.raises(BatchesMissing) as refused:
            acting.complete(crawl.owner, last_batch, processed)
        assert refused.value.members == {"last_batch_no": 1, "processed_count": 3}
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"
        assert seed.row("accounts", account_id=crawl.account_id)["crawl_no"] == 0

    def test_a_stale_owner(self, acting: Acting, seed: Seed, crawl: Running) -> None:
        with pytest.raises(StaleTaskOwner):
            acting.complete(replace(crawl.owner, fencing_token=2), 1, 3)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"

    @pytest.mark.parametrize(("after", "accepted"), [("59.999999", True), ("60.000000", False)])
    def test_once_the_lease_has_ended(
        self, acting: Acting, seed: Seed, clock: Clock, crawl: Running, after: str, *, accepted: bool
    ) -> None:
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"] == START + seconds(60)
        clock.advance(seconds=after)
        if accepted:
            assert acting.complete(crawl.owner, 1, 3) == COMPLETED
        else:
            with pytest.raises(StaleTaskOwner):
                acting.complete(crawl.owner, 1, 3)


def test_a_completion_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.complete(crawl.owner, 0, 0))
        until_lock_waits(watcher)
        until_passed(watcher, seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"])
    assert isinstance(answer.exception(10), StaleTaskOwner)
    assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"
