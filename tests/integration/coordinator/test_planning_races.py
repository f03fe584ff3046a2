"""Plans under contention: two at once make one task per account, elections and operators do not wait for each other."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Event

import pytest

from coordinator import planning
from coordinator.database import Database, Transaction
from coordinator.planning import Plan, Planned, PlannedTask
from shared.problems import LeaseExpired, PlanConflict
from tests.integration.clock import START, Clock
from tests.integration.coordinator.commanding import Chief, Commanding, planned
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, together, until_lock_waits, until_passed

LOCK = "SELECT * FROM leadership FOR UPDATE"
DEADLINE_SECONDS = 10


@pytest.fixture
def chief(commanding: Commanding, clock: Clock, seed: Seed) -> Chief:
    """The leader, elected just now."""
    return commanding.elect("server-a", seed.server("server-a"))


@pytest.fixture
def tasks(seed: Seed, clock: Clock) -> list[PlannedTask]:
    """Tasks for twenty accounts that are due."""
    return [planned(seed.account("shopify"), START) for _ in range(20)]


class Unfinished:
    """A plan whose tasks are written and whose transaction ends when it is told how."""

    def __init__(self, commanding: Commanding, chief: Chief, tasks: Sequence[PlannedTask], plan_id: uuid.UUID) -> None:
        self._end, self._commits = Event(), True
        written = Event()
        plan = Plan(chief.server_id, chief.boot_id, chief.fencing_token, plan_id, tasks)

        def submit(tx: Transaction) -> Planned:
            answer = planning.submit(tx, commanding.policy, plan)
            written.set()
            assert self._end.wait(DEADLINE_SECONDS)
            if not self._commits:
                raise InterruptedError("the process died before the commit")
            return answer

        self._answer: Future[Planned] = in_thread(lambda: commanding.database.transaction(submit))
        assert written.wait(DEADLINE_SECONDS)

    def commit(self) -> Planned:
        """Let it commit; its answer."""
        self._end.set()
        return self._answer.result(DEADLINE_SECONDS)

    def die(self) -> None:
        """Let it roll back."""
        self._commits = False
        self._end.set()
        with pytest.raises(InterruptedError):
            self._answer.result(DEADLINE_SECONDS)


class TestTwoPlans:
    def test_of_one_id_both_are_answered_alike(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], seed: Seed, watcher: Connection
    ) -> None:
        plan_id = uuid.uuid4()
        first = Unfinished(commanding, chief, tasks, plan_id)
        second = in_thread(lambda: commanding.plan(chief, tasks, plan_id))
        until_lock_waits(watcher)
        assert first.commit() == second.result(DEADLINE_SECONDS) == Planned(created=20, skipped=0)
        assert seed.count("crawl_tasks") == 20
        assert commanding.database.retries == {}

    def test_of_one_id_and_other_tasks_the_later_is_refused(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], watcher: Connection
    ) -> None:
        plan_id = uuid.uuid4()
        first = Unfinished(commanding, chief, tasks[:10], plan_id)
        second = in_thread(lambda: commanding.plan(chief, tasks[10:], plan_id))
        until_lock_waits(watcher)
        first.commit()
        with pytest.raises(PlanConflict):
            second.result(DEADLINE_SECONDS)

    def test_of_two_ids_the_later_finds_the_accounts_taken(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], seed: Seed, watcher: Connection
    ) -> None:
        first = Unfinished(commanding, chief, tasks[:15], uuid.uuid4())
        second = in_thread(lambda: commanding.plan(chief, tasks, uuid.uuid4()))
        until_lock_waits(watcher)
        assert first.commit() == Planned(created=15, skipped=0)
        assert second.result(DEADLINE_SECONDS) == Planned(created=5, skipped=15)
        assert seed.count("crawl_tasks") == 20
        assert commanding.database.retries == {}

    @pytest.mark.parametrize("same", [True, False], ids=["one id", "two ids"])
    def test_the_later_plans_all_when_the_earlier_dies(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], watcher: Connection, same: bool
    ) -> None:
        plan_id = uuid.uuid4()
        first = Unfinished(commanding, chief, tasks, plan_id)
        second = in_thread(lambda: commanding.plan(chief, tasks, plan_id if same else uuid.uuid4()))
        until_lock_waits(watcher)
        first.die()
        assert second.result(DEADLINE_SECONDS) == Planned(created=20, skipped=0)

    @pytest.mark.parametrize("same", [True, False], ids=["one id", "many ids"])
    def test_many_at_once_make_one_task_per_account(
        self,
        commanding: Commanding,
        chief: Chief,
        tasks: list[PlannedTask],
        seed: Seed,
        sound: Callable[[], None],
        same: bool,
    ) -> None:
        plan_id = uuid.uuid4()
        answers = together(
            *[lambda: commanding.plan(chief, tasks, plan_id if same else uuid.uuid4())] * 6,
        )
        assert all(isinstance(answer, Planned) for answer in answers), answers
        assert sum(answer.created for answer in answers) == (120 if same else 20)
        assert seed.count("crawl_tasks") == 20
        sound()


class TestWhoWaits:
    def test_an_election_waits_for_a_plan_and_no_plan_follows_it(
        self,
        commanding: Commanding,
        chief: Chief,
        tasks: list[PlannedTask],
        seed: Seed,
        clock: Clock,
        watcher: Connection,
    ) -> None:
        plan = Unfinished(commanding, chief, tasks, uuid.uuid4())
        rival = seed.server("server-b")
        clock.advance(seconds=120)
        election = in_thread(lambda: commanding.campaign("server-b", rival))
        until_lock_waits(watcher)
        assert not election.done()
        plan.commit()
        assert election.result(DEADLINE_SECONDS).elected

    def test_a_plan_waits_for_no_account(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], holder: Connection
    ) -> None:
        with held(holder, "SELECT * FROM accounts WHERE account_id = %s FOR UPDATE", tasks[0].account_id):
            answer = in_thread(lambda: commanding.plan(chief, tasks)).result(DEADLINE_SECONDS)
        assert answer.created == len(tasks)
        assert commanding.database.retries == {}

    def test_an_account_does_not_wait_for_a_plan(
        self, commanding: Commanding, chief: Chief, tasks: list[PlannedTask], holder: Connection
    ) -> None:
        plan = Unfinished(commanding, chief, tasks, uuid.uuid4())
        with held(holder, "UPDATE accounts SET size = 7 WHERE account_id = %s", tasks[0].account_id):
            pass
        plan.commit()


def test_a_plan_that_waited_past_the_lease_is_refused(
    commanding: Commanding, database: Database, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    brief = commanding.with_policy(leader_lease_seconds=0.5)
    chief = brief.elect("server-a", seed.server("server-a"))
    due_at = seed.now()
    account_id = seed.account("shopify", next_due_at=due_at)
    expires_at = seed.row("leadership")["lease_expires_at"]
    with held(holder, LOCK):
        answer = in_thread(lambda: brief.plan(chief, [planned(account_id, due_at)]))
        until_lock_waits(watcher)
        assert seed.now() < expires_at, "the machine was too slow: the plan came after the lease had ended"
        until_passed(watcher, expires_at)
    with pytest.raises(LeaseExpired):
        answer.result(DEADLINE_SECONDS)
    assert seed.count("crawl_tasks") == seed.count("plans") == 0
