"""The cluster policy as the database holds it: read by every request, set by operators, each change audited."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from coordinator import audit
from coordinator.audit import Actor
from coordinator.database import Row, Transaction
from shared import policy as policies
from shared.policy import Policy


class PolicyError(Exception):
    """A policy that cannot be set; ``reasons`` names every rule that it breaks."""

    def __init__(self, reasons: list[str]) -> None:
        super().__init__("; ".join(reasons))
        self.reasons = reasons


@dataclass(frozen=True)
class CurrentPolicy:
    """The policy in force; version 0 is the project's defaults, in force until an operator sets one."""

    version: int
    digest: str
    policy: Policy


DEFAULT = CurrentPolicy(0, policies.digest(policies.DEFAULT), policies.DEFAULT)


class PolicyReader:
    """Reads the current policy; the body is read again only when the version has changed. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._last = DEFAULT

    def current(self, tx: Transaction) -> CurrentPolicy:
        """The policy in force at this statement."""
        row = tx.one("policy_read_version")
        if row is None:
            return DEFAULT
        with self._guard:
            last = self._last
        if (last.version, last.digest) == (row["version"], row["digest"]):
            return last
        current = _loaded(tx.one("policy_read"))
        with self._guard:
            self._last = current
        return current


def change(tx: Transaction, changes: Mapping[str, Any], actor: Actor, now: datetime) -> CurrentPolicy:
    """Set the named members, keep the others, and write who did it. Returns the policy then in force.

    Raises ``PolicyError`` for unknown members, wrong types and contradictions; nothing is written then.
    """
    before = _loaded(tx.one("policy_lock"))
    after = _changed(before.policy, changes)
    current = CurrentPolicy(before.version + 1, policies.digest(after), after)
    body = msgspec.json.encode(after, order="sorted").decode()
    tx.execute(
        "policy_write", version=current.version, digest=current.digest, body=body, now=now, actor=actor.name[:64]
    )
    old = policies.to_document(before.policy)
    detail = {name: {"before": old[name], "after": value} for name, value in changes.items()}
    audit.record(tx, actor, "policy.set", f"policy:{current.version}", detail)
    return current


def _changed(before: Policy, changes: Mapping[str, Any]) -> Policy:
    unknown = sorted(set(changes) - set(Policy.__struct_fields__))
    if unknown:
        raise PolicyError([f"{name} is no member of the policy" for name in unknown])
    try:
        after = msgspec.convert({**policies.to_document(before), **changes}, Policy)
    except msgspec.ValidationError as error:
        raise PolicyError([str(error)]) from error
    if broken := policies.violations(after):
        raise PolicyError(broken)
    return after


def _loaded(row: Row | None) -> CurrentPolicy:
    if row is None:
        return DEFAULT
    policy, _ = policies.understand(msgspec.json.decode(row["body"]))
    return CurrentPolicy(row["version"], row["digest"], policy)
