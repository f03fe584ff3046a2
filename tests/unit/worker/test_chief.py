"""The Chief believes in its term a second less than granted, renews before it plans, and repeats what was lost."""

from __future__ import annotations

from typing import Any

import pytest

from shared import policy as policies
from shared.policy import Policy
from shared.problems import (
    BootSuperseded,
    DatabaseUnavailable,
    InvalidInput,
    LeaseExpired,
    PlanConflict,
    Problem,
    ServerDraining,
    ServerNotRegistered,
    StaleFencingToken,
)
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock
from worker.chief import Chief
from worker.client import CoordinatorUnreachableError
from worker.duty import FatalError
from worker.policy_watch import PolicyWatch

POLICY = Policy(leader_lease_seconds=15, leader_heartbeat_seconds=5, plan_interval_seconds=5)
ELECTED = {"elected": True, "fencing_token": 4, "lease_remaining_seconds": 15.0}
NOT_ELECTED = {"elected": False, "fencing_token": 4, "lease_remaining_seconds": 0.0}
DUE_AT = "2026-12-01T00:00:00.000000Z"
CANDIDATES = {
    "longest_refresh_interval_seconds": 86_400.0,
    "candidates": [
        {"account_id": account, "marketplace_code": "m", "size": size, "due_at": DUE_AT, "yields": False}
        for account, size in ((9, None), (2, 20), (5, 20_000))
    ],
}
NOTHING_DUE = {**CANDIDATES, "candidates": []}
PLANNED = {"created": 3, "skipped": 0}
LOST = CoordinatorUnreachableError("lost")


class Term:
    """A Chief, its clock and its coordinator."""

    def __init__(self, **replies: list[Reply]) -> None:
        usual: dict[str, list[Reply]] = {
            "campaign": [ELECTED],
            "heartbeat": [ELECTED],
            "candidates": [NOTHING_DUE],
            "plan": [PLANNED],
            "housekeeping": [{"nonces_deleted": 0}],
            "resign": [204],
        }
        watch = PolicyWatch()
        watch.take(policies.to_document(POLICY), "digest")
        self.clock = Clock()
        self.coordinator = CoordinatorDouble(self.clock, **{**usual, **replies})
        self.chief = Chief(self.coordinator, IDENTITY, watch, self.clock)

    def turns(self, count: int) -> list[str]:
        """Verbs called in so many turns."""
        before = len(self.coordinator.calls)
        for _ in range(count):
            self.chief.turn()
        return self.coordinator.verbs()[before:]

    def plans(self) -> list[dict[str, Any]]:
        return [body for _, path, body in self.coordinator.calls if path == "/plan"]


def test_a_term_is_believed_from_before_it_was_asked_for_less_a_second() -> None:
    term = Term()
    term.coordinator.seconds = 3.0
    asked_at = term.clock.now
    term.chief.turn()
    term.clock.now = asked_at + 14 - 0.000001
    assert term.chief.leads
    term.clock.now = asked_at + 14
    assert not term.chief.leads


def test_who_is_not_elected_asks_again_a_heartbeat_later() -> None:
    term = Term(campaign=[NOT_ELECTED])
    assert term.chief.turn() == POLICY.leader_heartbeat_seconds
    assert not term.chief.leads
    assert term.turns(1) == ["campaign"]


def test_it_renews_before_it_plans_and_plans_before_it_keeps_house() -> None:
    term = Term(candidates=[CANDIDATES])
    assert term.turns(4) == ["campaign", "candidates", "plan", "housekeeping"]
    term.clock.now += 5
    assert term.turns(4) == ["heartbeat", "candidates", "plan", "housekeeping"]


def test_slow_answers_to_planning_leave_time_to_renew() -> None:
    term = Term(candidates=[CANDIDATES])
    term.turns(1)
    term.clock.now += 4.9
    term.coordinator.seconds = 4.5
    assert term.turns(2) == ["candidates", "heartbeat"]
    assert term.chief.leads


def test_no_request_outlasts_the_term() -> None:
    term = Term()
    term.turns(1)
    term.clock.now += 12
    term.turns(1)
    assert term.coordinator.deadlines[-1] == pytest.approx(1.0)


def test_a_plan_is_in_account_order_with_keys_and_classes() -> None:
    term = Term(candidates=[CANDIDATES])
    term.turns(3)
    (plan,) = term.plans()
    assert plan["fencing_token"] == 4
    assert [(task["account_id"], task["size_class"]) for task in plan["tasks"]] == [
        (2, "small"),
        (5, "large"),
        (9, "probe"),
    ]
    small, large, probe = plan["tasks"]
    assert small["dispatch_key"] == probe["dispatch_key"] == DUE_AT
    assert large["dispatch_key"] > DUE_AT


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable()])
def test_a_plan_that_was_not_answered_is_posted_again_as_it_was(trouble: Exception) -> None:
    term = Term(candidates=[CANDIDATES, NOTHING_DUE], plan=[trouble, PLANNED])
    term.turns(4)
    first, second = term.plans()
    assert first == second
    term.clock.now += 5
    term.turns(4)
    assert len(term.plans()) == 2


@pytest.mark.parametrize("refusal", [PlanConflict(), InvalidInput(errors={"tasks": "no"})])
def test_a_plan_that_was_refused_is_not_posted_again(refusal: Problem) -> None:
    term = Term(candidates=[CANDIDATES], plan=[refusal, PLANNED])
    term.turns(3)
    term.clock.now += 5
    term.turns(3)
    first, second = term.plans()
    assert first["plan_id"] != second["plan_id"]


def test_an_answer_that_comes_after_the_term_changes_nothing() -> None:
    term = Term()
    term.turns(1)
    term.clock.now += 13

    def pause() -> None:
        """As if the process had been stopped while the answer was under way."""
        term.clock.now += 2

    term.coordinator.before = pause
    term.turns(1)
    assert not term.chief.leads


def test_a_new_term_does_not_post_the_plan_of_the_old_one() -> None:
    term = Term(
        campaign=[ELECTED, {**ELECTED, "fencing_token": 5}], candidates=[CANDIDATES, NOTHING_DUE], plan=[LOST, PLANNED]
    )
    term.turns(3)
    term.clock.now += 15
    term.turns(4)
    assert len(term.plans()) == 1
    assert term.chief.leads


@pytest.mark.parametrize("loss", [StaleFencingToken(fencing_token=5), LeaseExpired()])
def test_who_lost_its_term_campaigns_again(loss: Problem) -> None:
    term = Term(heartbeat=[loss])
    term.turns(1)
    term.clock.now += 5
    assert term.turns(1) == ["heartbeat"]
    assert not term.chief.leads
    assert term.turns(1) == ["campaign"]


@pytest.mark.parametrize("end", [BootSuperseded(), ServerNotRegistered()])
def test_a_boot_whose_time_is_over_ends_the_daemon(end: Problem) -> None:
    with pytest.raises(FatalError):
        Term(campaign=[end]).chief.turn()


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable(), ServerDraining()])
def test_trouble_that_may_pass_is_waited_out(trouble: Exception) -> None:
    term = Term(campaign=[trouble, ELECTED])
    assert term.chief.turn() > 0
    term.turns(1)
    assert term.chief.leads


def test_resigning_ends_term_and_campaign() -> None:
    term = Term()
    term.turns(1)
    term.chief.resign()
    method, path, body = term.coordinator.calls[-1]
    assert (method, path, body["fencing_token"]) == ("POST", "/leadership/resign", 4)
    assert not term.chief.leads
    assert term.turns(2) == []


def test_who_does_not_lead_has_nothing_to_resign() -> None:
    term = Term(campaign=[NOT_ELECTED])
    term.turns(1)
    term.chief.resign()
    assert term.coordinator.verbs() == ["campaign"]
