"""The server's heartbeat shows that it lives, hears orders, and keeps the policy up to date."""

from __future__ import annotations

import pytest

from shared import policy as policies
from shared.policy import Policy
from shared.problems import BootSuperseded, DatabaseUnavailable, Problem, ServerNotRegistered
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock
from worker.client import CoordinatorUnreachableError
from worker.duty import FatalError
from worker.policy_watch import PolicyWatch
from worker.server_heartbeat import ServerHeartbeat

LOST = CoordinatorUnreachableError("lost")
HEARD = {"drain": False, "policy_digest": "first", "now": "…"}
SERVED = {"policy": policies.to_document(Policy(server_heartbeat_seconds=7)), "digest": "second"}


class Living:
    """A heartbeat and its coordinator."""

    def __init__(self, *replies: Reply, policy: Reply = SERVED) -> None:
        self.watch = PolicyWatch()
        self.watch.take(policies.to_document(Policy(server_heartbeat_seconds=10)), "first")
        self.drains = 0
        self.coordinator = CoordinatorDouble(Clock(), heartbeat=list(replies or [HEARD]), policy=[policy])
        self.duty = ServerHeartbeat(self.coordinator, IDENTITY, self.watch, lambda: 2, self._drain)

    def _drain(self) -> None:
        self.drains += 1


def test_it_carries_the_boot_and_what_was_measured() -> None:
    living = Living()
    assert living.duty.turn() == 10
    ((method, path, body),) = living.coordinator.calls
    assert (method, path, body["boot_id"]) == ("POST", "/servers/server-1/heartbeat", IDENTITY.boot_id)
    assert body["telemetry"]["running_tasks"] == 2
    assert body["telemetry"]["rss_bytes"] > 1_000_000
    assert living.drains == 0


def test_an_order_to_drain_is_passed_on() -> None:
    living = Living({**HEARD, "drain": True})
    living.duty.turn()
    assert living.drains == 1


def test_a_changed_policy_is_fetched_and_obeyed() -> None:
    living = Living()
    living.watch.notice("second")
    assert living.duty.turn() == 7
    assert living.coordinator.verbs() == ["policy", "heartbeat"]
    assert living.duty.turn() == 7
    assert living.coordinator.verbs() == ["policy", "heartbeat", "heartbeat"]


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable()])
def test_what_was_not_answered_is_repeated_soon(trouble: Exception) -> None:
    living = Living(trouble)
    assert 0 < living.duty.turn() <= 2
    unserved = Living(policy=trouble)
    unserved.watch.notice("second")
    assert 0 < unserved.duty.turn() <= 2


@pytest.mark.parametrize("end", [BootSuperseded(), ServerNotRegistered()])
def test_a_boot_whose_time_is_over_ends_the_daemon(end: Problem) -> None:
    with pytest.raises(FatalError):
        Living(end).duty.turn()
