"""The policy is fetched anew when an answer carries another digest; what must be understood stops acquiring."""

from __future__ import annotations

import pytest

from shared import policy as policies
from shared.policy import Policy
from worker.policy_watch import PolicyWatch


def watch() -> PolicyWatch:
    found = PolicyWatch()
    found.take(policies.to_document(Policy(slots_per_server=2)), "first")
    return found


def test_a_served_policy_is_obeyed() -> None:
    assert watch().current.slots_per_server == 2
    assert watch().may_acquire


def test_only_another_digest_asks_for_the_policy() -> None:
    found = watch()
    found.notice("first")
    assert not found.changed.is_set()
    found.notice("second")
    assert found.changed.is_set()
    found.take(policies.to_document(Policy()), "second")
    assert not found.changed.is_set()


def test_a_member_that_must_be_understood_and_is_not_stops_acquiring() -> None:
    found = watch()
    document = {**policies.to_document(Policy(slots_per_server=5)), "must_understand": ["moon_phase"], "moon_phase": 1}
    found.take(document, "second")
    assert not found.may_acquire
    assert found.current.slots_per_server == 5
    found.take(policies.to_document(Policy()), "third")
    assert found.may_acquire


def test_a_member_that_need_not_be_understood_is_passed_over() -> None:
    found = watch()
    found.take({**policies.to_document(Policy()), "moon_phase": 1, "must_understand": ["slots_per_server"]}, "second")
    assert found.may_acquire


@pytest.mark.parametrize("bent", [{"slots_per_server": "three"}, {"must_understand": 1}, {"task_lease_seconds": None}])
def test_a_policy_that_cannot_be_read_is_not_obeyed_and_stops_acquiring(bent: dict[str, object]) -> None:
    found = watch()
    found.take({**policies.to_document(Policy(slots_per_server=9)), **bent}, "second")
    assert found.current.slots_per_server == 2
    assert not found.may_acquire
    assert not found.changed.is_set()
