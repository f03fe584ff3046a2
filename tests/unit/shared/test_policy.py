"""The policy: its defaults hold together, each contradiction is named, an older side reads a newer one."""

import json
from typing import Any

import msgspec
import pytest

from shared import policy as policies
from shared.policy import DEFAULT, Policy

NUMBERS = [name for name in Policy.__struct_fields__ if name != "must_understand"]


def changed(**members: Any) -> Policy:
    return msgspec.structs.replace(DEFAULT, **members)


def test_the_defaults_hold_together() -> None:
    assert policies.violations(DEFAULT) == []


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"leader_heartbeat_seconds": 7.6}, "leader_heartbeat_seconds"),
        ({"leader_lease_seconds": 1.0, "leader_heartbeat_seconds": 0.4}, "over 1"),
        ({"leader_lease_seconds": 120}, "less than failover_threshold_seconds"),
        ({"server_heartbeat_seconds": 41}, "server_heartbeat_seconds"),
        ({"task_heartbeat_seconds": 21}, "task_heartbeat_seconds"),
        ({"task_lease_seconds": 1.0, "task_heartbeat_seconds": 0.3}, "task_lease_seconds"),
        ({"progress_timeout_seconds": 59}, "progress_timeout_seconds"),
        ({"nonce_retention_seconds": 120}, "nonce_retention_seconds"),
        ({"flush_records": 501}, "flush_records"),
        ({"max_batch_records": 1001}, "max_batch_records"),
        ({"slots_per_server": 65}, "slots_per_server"),
        ({"retry_base_seconds": 3601}, "retry_base_seconds"),
    ],
)
def test_a_contradiction_is_named(members: dict[str, Any], rule: str) -> None:
    found = policies.violations(changed(**members))
    assert len(found) == 1, found
    assert rule in found[0]


@pytest.mark.parametrize(
    "members",
    [
        {"leader_heartbeat_seconds": 7.5},
        {"leader_lease_seconds": 119.999},
        {"server_heartbeat_seconds": 40},
        {"task_heartbeat_seconds": 20},
        {"nonce_retention_seconds": 120.001},
        {"slots_per_server": 64},
    ],
)
def test_the_edge_of_a_rule_is_allowed(members: dict[str, Any]) -> None:
    assert policies.violations(changed(**members)) == []


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 1e9])
def test_every_number_is_positive_and_sane(name: str, value: float) -> None:
    assert any(sentence.startswith(f"{name} is ") for sentence in policies.violations(changed(**{name: value})))


def test_the_digest_tells_policies_apart_and_nothing_else() -> None:
    assert policies.digest(DEFAULT) == policies.digest(Policy())
    digests = {policies.digest(changed(**{name: 7})) for name in NUMBERS}
    assert len(digests) == len(NUMBERS)
    assert all(len(digest) == 64 for digest in digests)


def test_a_document_becomes_the_same_policy_again() -> None:
    document = json.loads(json.dumps(policies.to_document(changed(slots_per_server=5))))
    assert policies.understand(document) == (changed(slots_per_server=5), [])


def test_a_newer_policys_members_are_passed_over() -> None:
    document = {**policies.to_document(DEFAULT), "frobnication_seconds": 3}
    assert policies.understand(document) == (DEFAULT, [])


def test_a_newer_policys_member_that_must_be_understood_is_named() -> None:
    must = ["frobnication_seconds", "slots_per_server"]
    document = {**policies.to_document(DEFAULT), "frobnication_seconds": 3, "must_understand": must}
    assert policies.understand(document)[1] == ["frobnication_seconds"]


def test_an_older_policys_missing_members_get_their_defaults() -> None:
    assert policies.understand({"slots_per_server": 2}) == (changed(slots_per_server=2), [])


def test_a_member_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(ValueError, match="slots_per_server"):
        policies.understand({"slots_per_server": "three"})
