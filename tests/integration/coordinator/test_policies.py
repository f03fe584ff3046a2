"""The policy in the database: defaults until it is set, changed wholly or not, audited, seen by the next reader."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from coordinator import policies
from coordinator.audit import Actor
from coordinator.database import Database
from coordinator.policies import CurrentPolicy, PolicyError, PolicyReader
from shared import policy as shared_policy
from tests.integration.seed import Seed

ACTOR = Actor("ann", "request-1")


def change(database: Database, **changes: Any) -> CurrentPolicy:
    return database.transaction(lambda tx: policies.change(tx, changes, ACTOR, tx.now()))


def test_until_one_is_set_the_defaults_are_in_force(database: Database) -> None:
    current = database.transaction(PolicyReader().current)
    assert current.version == 0
    assert current.policy == shared_policy.DEFAULT


def test_a_change_is_seen_by_readers_that_had_the_old_one(database: Database) -> None:
    reader = PolicyReader()
    database.transaction(reader.current)
    for version, seconds in ((1, 30.0), (2, 45.0)):
        changed = change(database, acquire_poll_seconds=seconds)
        seen = database.transaction(reader.current)
        assert (seen.version, seen.policy.acquire_poll_seconds) == (version, seconds)
        assert seen == changed


def test_other_members_are_kept(database: Database) -> None:
    change(database, slots_per_server=5)
    kept = change(database, max_attempts=7).policy
    assert (kept.slots_per_server, kept.max_attempts) == (5, 7)


def test_who_changed_what_is_audited(database: Database, seed: Seed) -> None:
    change(database, slots_per_server=5)
    entry = seed.row("audit_log")
    assert (entry["actor"], entry["action"], entry["request_id"]) == ("ann", "policy.set", "request-1")
    assert json.loads(entry["detail"]) == {"slots_per_server": {"before": 3, "after": 5}}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"slot_per_server": 3}, "slot_per_server"),
        ({"slots_per_server": "three"}, "slots_per_server"),
        ({"slots_per_server": 0}, "slots_per_server"),
        ({"leader_heartbeat_seconds": 10}, "leader_heartbeat_seconds"),
        ({"task_lease_seconds": 30}, "task_heartbeat_seconds"),
    ],
)
def test_what_contradicts_itself_is_refused_by_name(
    database: Database, seed: Seed, changes: dict[str, Any], named: str
) -> None:
    with pytest.raises(PolicyError, match=named):
        change(database, **changes)
    assert seed.count("policy") == seed.count("audit_log") == 0


def test_every_violated_rule_is_named(database: Database) -> None:
    with pytest.raises(PolicyError) as refused:
        change(database, leader_heartbeat_seconds=100, task_heartbeat_seconds=100, max_batch_records=1)
    assert len(refused.value.reasons) == 3


def test_two_changes_at_once_are_both_kept(database: Database, seed: Seed) -> None:
    change(database, slots_per_server=3)
    both_began = threading.Barrier(2)

    def alter(**changes: Any) -> None:
        both_began.wait(timeout=10)
        change(database, **changes)

    threads = [
        threading.Thread(target=alter, kwargs={"slots_per_server": 5}),
        threading.Thread(target=alter, kwargs={"max_attempts": 7}),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    current = database.transaction(PolicyReader().current)
    assert current.version == 3
    assert (current.policy.slots_per_server, current.policy.max_attempts) == (5, 7)
