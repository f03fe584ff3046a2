"""The cluster policy: the numbers that coordinator and workers must not hold differently.

It is served by the coordinator and obeyed by workers. Its digest travels with every answer, so that a worker
notices a change. All durations are seconds.
"""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of the policy; the defaults are the ones for production."""

    leader_lease_seconds: float = 15
    leader_heartbeat_seconds: float = 5
    failover_threshold_seconds: float = 120
    server_heartbeat_seconds: float = 10
    server_liveness_seconds: float = 120
    task_heartbeat_seconds: float = 20
    task_lease_seconds: float = 60
    plan_interval_seconds: float = 5
    acquire_poll_seconds: float = 1
    slots_per_server: int = 3
    flush_records: int = 100
    max_batch_records: int = 500
    signature_window_seconds: float = 60
    nonce_retention_seconds: float = 300
    max_attempts: int = 5
    max_epochs: int = 3
    retry_base_seconds: float = 30
    retry_cap_seconds: float = 3600
    failure_cooldown_seconds: float = 3600
    progress_timeout_seconds: float = 900
    delist_after_misses: int = 2
    history_per_account: int = 50
    history_days: int = 30
    must_understand: tuple[str, ...] = ()


DEFAULT = Policy()
# Instants are reckoned with durations: the calendar's end must stay out of reach.
_MAX_DAYS = 3_650
_MAX_COUNT = 10_000


def to_document(policy: Policy) -> dict[str, Any]:
    """The policy as JSON members, as the API serves it."""
    document: dict[str, Any] = msgspec.to_builtins(policy)
    return document


def digest(policy: Policy) -> str:
    """SHA-256 in hex over the policy's canonical JSON (members sorted, no white space)."""
    return hashlib.sha256(msgspec.json.encode(policy, order="sorted")).hexdigest()


def understand(document: Mapping[str, Any]) -> tuple[Policy, list[str]]:
    """A served policy as this version understands it, and the members it must understand but does not know.

    A newer coordinator may serve members that an older worker has never heard of: they are passed over, unless
    ``must_understand`` lists them. Raises ``ValueError`` for a member of the wrong type.
    """
    known = {name: value for name, value in document.items() if name in Policy.__struct_fields__}
    policy = msgspec.convert(known, Policy)
    return policy, [name for name in policy.must_understand if name not in Policy.__struct_fields__]


def violations(policy: Policy) -> list[str]:
    """Every rule that the policy breaks, one sentence each; an empty list means that it holds together."""
    broken = [_out_of_range(name, value) for name, value in to_document(policy).items()]
    broken += [sentence if not holds else None for holds, sentence in _relations(policy)]
    return [sentence for sentence in broken if sentence]


def _out_of_range(name: str, value: Any) -> str | None:
    most = _MAX_DAYS if name.endswith("_days") else _MAX_DAYS * 86_400 if name.endswith("_seconds") else _MAX_COUNT
    if isinstance(value, int | float) and not 0 < value <= most:
        return f"{name} is {value}: it must be a positive number, at most {most}"
    return None


def _relations(policy: Policy) -> list[tuple[bool, str]]:
    p = policy
    return [
        (
            p.leader_heartbeat_seconds <= p.leader_lease_seconds / 2,
            "leader_heartbeat_seconds must be at most half of leader_lease_seconds",
        ),
        (
            p.leader_lease_seconds > 1,
            "leader_lease_seconds must be over 1: the Chief gives up one second before its lease ends",
        ),
        (
            p.leader_lease_seconds < p.failover_threshold_seconds,
            "leader_lease_seconds must be less than failover_threshold_seconds",
        ),
        (
            p.server_heartbeat_seconds <= p.server_liveness_seconds / 3,
            "server_heartbeat_seconds must be at most a third of server_liveness_seconds",
        ),
        (
            p.task_heartbeat_seconds <= p.task_lease_seconds / 3,
            "task_heartbeat_seconds must be at most a third of task_lease_seconds",
        ),
        (
            p.task_lease_seconds > 1,
            "task_lease_seconds must be over 1: a worker gives a task up one second before its lease ends",
        ),
        (
            p.task_lease_seconds <= p.progress_timeout_seconds,
            "progress_timeout_seconds must be at least task_lease_seconds",
        ),
        (
            2 * p.signature_window_seconds < p.nonce_retention_seconds,
            "nonce_retention_seconds must be over twice signature_window_seconds, which counts both ways",
        ),
        (p.flush_records <= p.max_batch_records, "flush_records must be at most max_batch_records"),
        (p.max_batch_records <= 1000, "max_batch_records must be at most 1000"),
        (p.slots_per_server <= 64, "slots_per_server must be at most 64"),
        (
            p.retry_base_seconds <= p.retry_cap_seconds,
            "retry_base_seconds must be at most retry_cap_seconds",
        ),
    ]
