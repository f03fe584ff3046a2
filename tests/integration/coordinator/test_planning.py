"""Planning: which accounts are candidates, which tasks a plan creates, and what it is answered when it comes again."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest

from coordinator.planning import Candidate, Planned
from shared.problems import LeaseExpired, PlanConflict, StaleFencingToken
from shared.states import SizeClass
from tests.integration.clock import START, Clock
from tests.integration.coordinator.commanding import Chief, Commanding, planned
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed

HORIZON_SECONDS = 125
MICROSECOND = datetime.timedelta(microseconds=1)


@pytest.fixture
def chief(commanding: Commanding, clock: Clock, seed: Seed) -> Chief:
    """The leader, elected just now."""
    return commanding.elect("server-a", seed.server("server-a"))


class TestCandidates:
    def test_they_are_due_within_the_horizon(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        overdue = seed.account("shopify", next_due_at=START - seconds(3600))
        ahead = seed.account("shopify", next_due_at=START + seconds(HORIZON_SECONDS))
        seed.account("shopify", next_due_at=START + seconds(HORIZON_SECONDS) + MICROSECOND)
        assert [candidate.account_id for candidate in commanding.candidates().candidates] == [overdue, ahead]

    def test_they_carry_what_the_key_is_computed_from(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        seed.marketplace("trendyol", yields=False)
        known = seed.account("shopify", size=140, refresh_interval_seconds=3600, next_due_at=START - seconds(9))
        unknown = seed.account("trendyol", refresh_interval_seconds=7200)
        answer = commanding.candidates()
        assert answer.longest_refresh_interval_seconds == 7200
        assert answer.candidates == [
            Candidate(known, "shopify", 140, START - seconds(9), yields=True),
            Candidate(unknown, "trendyol", None, START, yields=False),
        ]

    @pytest.mark.parametrize("columns", [{"paused": True}, {"suspended_at": START}])
    def test_nothing_may_stop_them(
        self, commanding: Commanding, seed: Seed, clock: Clock, columns: dict[str, Any]
    ) -> None:
        seed.account("shopify", **columns)
        assert commanding.candidates().candidates == []

    @pytest.mark.parametrize("state", ["queued", "delayed", "held", "running"])
    def test_no_active_task_has_them(self, commanding: Commanding, seed: Seed, clock: Clock, state: str) -> None:
        account_id = seed.account("shopify")
        seed.server("server-a")
        seed.task(account_id, state, server_id="server-a" if state == "running" else None)
        assert commanding.candidates().candidates == []

    def test_an_ended_task_does_not_count(self, commanding: Commanding, seed: Seed, clock: Clock) -> None:
        seed.task(seed.account("shopify"), "completed")
        assert len(commanding.candidates().candidates) == 1

    def test_the_most_due_come_first_and_no_more_than_asked_for(
        self, commanding: Commanding, seed: Seed, clock: Clock
    ) -> None:
        accounts = [seed.account("shopify", next_due_at=START - seconds(age)) for age in (10, 30, 20)]
        found = [candidate.account_id for candidate in commanding.candidates(limit=2).candidates]
        assert found == [accounts[1], accounts[2]]

    def test_without_accounts_there_is_nothing_to_plan(self, commanding: Commanding, clock: Clock) -> None:
        answer = commanding.candidates()
        assert (answer.candidates, answer.longest_refresh_interval_seconds) == ([], 0)


class TestTasks:
    def test_a_due_account_gets_a_queued_task(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        account_id = seed.account("shopify", size=9000, crawl_no=6, next_due_at=START - seconds(60))
        task = planned(
            account_id,
            START - seconds(60),
            9000,
            size_class=SizeClass.LARGE,
            dispatch_key=START + seconds(7000),
        )
        assert commanding.plan(chief, [task]) == Planned(created=1, skipped=0)
        row = seed.row("crawl_tasks")
        assert (row["account_id"], row["marketplace_code"], row["crawl_no"]) == (account_id, "shopify", 7)
        assert (row["state"], row["size_class"], row["size"]) == ("queued", "large", 9000)
        assert (row["due_at"], row["dispatch_key"]) == (START - seconds(60), START + seconds(7000))
        assert (row["eligible_at"], row["created_at"]) == (None, START)

    def test_one_that_is_due_ahead_is_delayed_until_then(
        self, commanding: Commanding, chief: Chief, seed: Seed
    ) -> None:
        due_now = seed.account("shopify")
        due_next = seed.account("shopify", next_due_at=START + MICROSECOND)
        tasks = [planned(due_now, START), planned(due_next, START + MICROSECOND)]
        assert commanding.plan(chief, tasks).created == 2
        assert seed.row("crawl_tasks", account_id=due_now)["state"] == "queued"
        row = seed.row("crawl_tasks", account_id=due_next)
        assert (row["state"], row["eligible_at"]) == ("delayed", START + MICROSECOND)

    def test_the_horizon_is_judged_again(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        within = seed.account("shopify", next_due_at=START + seconds(HORIZON_SECONDS))
        beyond = seed.account("shopify", next_due_at=START + seconds(HORIZON_SECONDS) + MICROSECOND)
        tasks = [
            planned(within, START + seconds(HORIZON_SECONDS)),
            planned(beyond, START + seconds(HORIZON_SECONDS) + MICROSECOND),
        ]
        assert commanding.plan(chief, tasks) == Planned(created=1, skipped=1)
        assert seed.row("crawl_tasks")["account_id"] == within

    @pytest.mark.parametrize(
        "change",
        [
            {"next_due_at": START + seconds(30)},
            {"size": 101},
            {"size": None},
            {"paused": True},
            {"suspended_at": START},
        ],
    )
    def test_an_account_that_changed_is_skipped(
        self, commanding: Commanding, chief: Chief, seed: Seed, change: dict[str, Any]
    ) -> None:
        account_id = seed.account("shopify", size=100)
        seed.update("accounts", {"account_id": account_id}, **change)
        assert commanding.plan(chief, [planned(account_id, START, 100)]) == Planned(created=0, skipped=1)
        assert seed.count("crawl_tasks") == 0

    @pytest.mark.parametrize("state", ["queued", "delayed", "held", "running"])
    def test_an_account_with_an_active_task_is_skipped(
        self, commanding: Commanding, chief: Chief, seed: Seed, state: str
    ) -> None:
        account_id = seed.account("shopify")
        seed.server("server-b")
        seed.task(account_id, state, server_id="server-b" if state == "running" else None)
        assert commanding.plan(chief, [planned(account_id, START)]) == Planned(created=0, skipped=1)
        assert seed.count("crawl_tasks") == 1

    def test_an_account_that_is_not_there_is_skipped(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        assert commanding.plan(chief, [planned(4711, START)]) == Planned(created=0, skipped=1)


class TestRepeats:
    def test_the_same_plan_is_answered_alike(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        account_id, taken = seed.account("shopify"), seed.account("shopify")
        seed.task(taken)
        plan_id, tasks = uuid.uuid4(), [planned(account_id, START), planned(taken, START)]
        assert commanding.plan(chief, tasks, plan_id) == Planned(created=1, skipped=1)
        seed.execute("UPDATE crawl_tasks SET state = 'cancelled', ended_at = %s", START)
        clock.advance(seconds=1)
        assert commanding.plan(chief, tasks, plan_id) == Planned(created=1, skipped=1)
        assert seed.count("crawl_tasks") == 2
        row = seed.row("plans")
        assert (row["plan_id"], row["fencing_token"], row["planned_at"]) == (plan_id.bytes, 1, START)

    def test_other_tasks_under_the_same_id_are_refused(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        first, second = seed.account("shopify"), seed.account("shopify")
        plan_id = uuid.uuid4()
        commanding.plan(chief, [planned(first, START)], plan_id)
        for tasks in ([planned(second, START)], [planned(first, START, dispatch_key=START + seconds(1))]):
            with pytest.raises(PlanConflict):
                commanding.plan(chief, tasks, plan_id)
        assert seed.count("crawl_tasks") == 1

    def test_a_repeat_in_the_same_boots_next_term_is_answered_alike(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        plan_id, tasks = uuid.uuid4(), [planned(seed.account("shopify"), START)]
        commanding.plan(chief, tasks, plan_id)
        clock.advance(seconds=20)
        again = commanding.elect(chief.server_id, chief.boot_id)
        assert commanding.plan(again, tasks, plan_id) == Planned(created=1, skipped=0)


class TestFencing:
    def test_a_leader_plans_to_the_last_microsecond_of_its_lease(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        account_id = seed.account("shopify")
        clock.advance(seconds="14.999999")
        assert commanding.plan(chief, [planned(account_id, START)]).created == 1

    def test_an_ended_lease_plans_nothing(self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock) -> None:
        account_id = seed.account("shopify")
        clock.advance(seconds=15)
        with pytest.raises(LeaseExpired):
            commanding.plan(chief, [planned(account_id, START)])
        assert seed.count("crawl_tasks") == seed.count("plans") == 0

    @pytest.mark.parametrize("wrong", [{"fencing_token": 2}, {"boot_id": uuid.uuid4()}, {"server_id": "server-b"}])
    def test_nobody_else_plans(self, commanding: Commanding, chief: Chief, seed: Seed, wrong: dict[str, Any]) -> None:
        account_id = seed.account("shopify")
        with pytest.raises(StaleFencingToken):
            commanding.plan(Chief(**{**vars(chief), **wrong}), [planned(account_id, START)])
        assert seed.count("crawl_tasks") == seed.count("plans") == 0

    def test_a_repeat_needs_a_valid_lease_too(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        plan_id, tasks = uuid.uuid4(), [planned(seed.account("shopify"), START)]
        commanding.plan(chief, tasks, plan_id)
        clock.advance(seconds=15)
        with pytest.raises(LeaseExpired):
            commanding.plan(chief, tasks, plan_id)
