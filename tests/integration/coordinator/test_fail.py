"""Failure: what is tried again and when, what has failed for good, and when its account is due again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from coordinator.outcomes import Outcome
from shared.policy import DEFAULT
from shared.problems import StaleTaskOwner
from shared.states import TaskState
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, batch, listing, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

FAILED = Outcome(TaskState.FAILED)


def credentials(seed: Seed, account_id: int, **columns: object) -> None:
    seed.insert(
        "account_credentials",
        **{
            "account_id": account_id,
            "version": 1,
            "encryption_version": 1,
            "secret_nonce": bytes(12),
            "secret_sealed": bytes(32),
            "updated_at": seed.now(),
            **columns,
        },
    )


class TestTriedAgain:
    @pytest.mark.parametrize(
        ("attempts", "draw", "wait"), [(0, 0.5, 15), (0, 0.0, 0), (1, 0.5, 30), (2, 0.25, 30), (3, 0.5, 120)]
    )
    def test_after_a_wait_with_full_jitter_that_doubles(
        self,
        acting: Acting,
        seed: Seed,
        clock: Clock,
        sound: Callable[[], None],
        attempts: int,
        draw: float,
        wait: float,
    ) -> None:
        crawl = running(seed, attempts=attempts)
        until = START + seconds(wait)
        assert acting.fail(crawl.owner, draw=draw) == Outcome(TaskState.DELAYED, until)
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["state"], task["eligible_at"], task["attempts"]) == ("delayed", until, attempts + 1)
        assert (task["error_code"], task["error_message"]) == ("marketplace_unavailable", "It did not work")
        assert (task["server_id"], task["lease_expires_at"]) == (None, None)
        assert seed.count("server_slots", task_id=crawl.task_id) == 0
        assert seed.count("task_events", task_id=crawl.task_id, kind="delayed") == 1
        assert seed.row("accounts", account_id=crawl.account_id)["consecutive_failures"] == 0
        sound()

    def test_an_end_with_a_new_page_is_no_attempt(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=4)
        acting.flush(crawl.owner, 1, batch([listing("a")]))
        assert acting.fail(crawl.owner, draw=0.5) == Outcome(TaskState.DELAYED, START + seconds(15))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["attempts"] == 0

    @pytest.mark.parametrize(("demanded", "wait"), [(10, 15), (20, 20), (60, 60)])
    def test_not_before_the_marketplace_allows(
        self, acting: Acting, seed: Seed, clock: Clock, demanded: float, wait: float
    ) -> None:
        crawl = running(seed)
        outcome = acting.fail(crawl.owner, "rate_limited", retry_after=demanded)
        assert outcome == Outcome(TaskState.DELAYED, START + seconds(wait))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["attempts"] == 1

    def test_a_demand_beyond_a_task_lease_is_no_attempt(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=4)
        outcome = acting.fail(crawl.owner, "rate_limited", retry_after=60.5)
        assert outcome == Outcome(TaskState.DELAYED, START + seconds(60.5))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["attempts"] == 4

    def test_held_where_the_account_was_paused_meanwhile(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        seed.update("accounts", {"account_id": crawl.account_id}, paused=True)
        until = START + seconds(15)
        assert acting.fail(crawl.owner, draw=0.5) == Outcome(TaskState.HELD, until)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["eligible_at"] == until


class TestForGood:
    def test_what_cannot_be_tried_again(
        self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        assert acting.fail(crawl.owner, "not_a_shop", retryable=False) == FAILED
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["state"], task["ended_at"], task["error_code"]) == ("failed", START, "not_a_shop")
        assert seed.count("server_slots", task_id=crawl.task_id) == 0
        assert seed.count("task_events", task_id=crawl.task_id, kind="failed") == 1
        sound()

    def test_what_was_tried_too_often(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed, attempts=DEFAULT.max_attempts - 2)
        assert acting.fail(crawl.owner).state is TaskState.DELAYED
        other = running(seed, "server-b", attempts=DEFAULT.max_attempts - 1)
        assert acting.fail(other.owner) == FAILED
        assert seed.row("crawl_tasks", task_id=other.task_id)["attempts"] == DEFAULT.max_attempts

    @pytest.mark.parametrize(("failures", "hours"), [(0, 1), (1, 2), (3, 8), (4, 10), (40, 10), (65_535, 10)])
    def test_the_account_is_due_after_a_cool_down_that_doubles_up_to_its_interval(
        self, acting: Acting, seed: Seed, clock: Clock, failures: int, hours: int
    ) -> None:
        crawl = running(seed)
        seed.update(
            "accounts",
            {"account_id": crawl.account_id},
            consecutive_failures=failures,
            refresh_interval_seconds=10 * 3600,
        )
        acting.fail(crawl.owner, retryable=False)
        account = seed.row("accounts", account_id=crawl.account_id)
        assert account["next_due_at"] == START + seconds(hours * 3600)
        assert account["consecutive_failures"] == min(failures + 1, 65_535)


class TestBadCredentials:
    def test_they_suspend_the_account(
        self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        credentials(seed, crawl.account_id, updated_at=START)
        before = seed.row("accounts", account_id=crawl.account_id)
        assert acting.fail(crawl.owner, "bad_credentials", retryable=False) == FAILED
        account = seed.row("accounts", account_id=crawl.account_id)
        assert (account["suspended_at"], account["next_due_at"]) == (START, before["next_due_at"])
        sound()

    def test_an_account_without_credentials_too(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.fail(crawl.owner, "bad_credentials")
        assert seed.row("accounts", account_id=crawl.account_id)["suspended_at"] == START

    def test_not_when_they_were_changed_since_they_were_handed_out(
        self, acting: Acting, seed: Seed, clock: Clock
    ) -> None:
        crawl = running(seed)
        credentials(seed, crawl.account_id, updated_at=START + seconds(0.000001))
        assert acting.fail(crawl.owner, "bad_credentials", retryable=False).state is TaskState.DELAYED
        assert seed.row("accounts", account_id=crawl.account_id)["suspended_at"] is None


class TestCursorExpired:
    def test_it_opens_an_epoch(self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]) -> None:
        crawl = running(seed, attempts=1)
        sent = batch([listing("a")], page=4, processed=400, token="after-4", total=900)
        acting.flush(crawl.owner, 1, sent)
        assert acting.fail(crawl.owner, "cursor_expired") == Outcome(TaskState.QUEUED)
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["state"], task["epoch"], task["enumeration"]) == ("queued", 2, "guessed")
        assert (task["current_page"], task["last_cursor_token"], task["processed_count"]) == (0, None, 0)
        assert (task["total_discovered_count"], task["progress_page"]) == (None, 0)
        assert task["last_batch_no"] == 1, "batch numbers run on"
        assert seed.count("listings") == 1
        assert seed.count("task_events", kind="epoch_opened") == 1
        sound()

    def test_but_not_without_end(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed, epoch=DEFAULT.max_epochs)
        assert acting.fail(crawl.owner, "cursor_expired") == FAILED
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["error_code"] == "cursor_expired"


class TestOwnership:
    def test_a_stale_owner_ends_nothing(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        with pytest.raises(StaleTaskOwner):
            acting.fail(replace(crawl.owner, fencing_token=2))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"

    def test_nor_does_one_repeated(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.fail(crawl.owner)
        with pytest.raises(StaleTaskOwner):
            acting.fail(crawl.owner)

    @pytest.mark.parametrize(("after", "accepted"), [("59.999999", True), ("60.000000", False)])
    def test_nor_one_whose_lease_has_ended(
        self, acting: Acting, seed: Seed, clock: Clock, after: str, *, accepted: bool
    ) -> None:
        crawl = running(seed)
        clock.advance(seconds=after)
        if accepted:
            assert acting.fail(crawl.owner).state is TaskState.DELAYED
        else:
            with pytest.raises(StaleTaskOwner):
                acting.fail(crawl.owner)


def test_a_task_to_be_cancelled_is_cancelled(acting: Acting, seed: Seed, clock: Clock) -> None:
    crawl = running(seed, cancel_requested=True)
    assert acting.fail(crawl.owner) == Outcome(TaskState.CANCELLED)
    account = seed.row("accounts", account_id=crawl.account_id)
    assert account["next_due_at"] == START + seconds(account["refresh_interval_seconds"])


def test_a_failure_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.fail(crawl.owner))
        until_lock_waits(watcher)
        until_passed(watcher, seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"])
    assert isinstance(answer.exception(10), StaleTaskOwner)
    assert seed.row("crawl_tasks", task_id=crawl.task_id)["state"] == "running"
