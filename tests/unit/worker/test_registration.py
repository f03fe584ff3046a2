"""Arriving at the coordinator, however long it takes, and leaving it."""

from __future__ import annotations

import pytest

from shared import policy as policies
from shared.policy import Policy
from shared.problems import BootSuperseded, DatabaseUnavailable, ServerIdInUse, SignatureInvalid
from tests.unit.worker.coordinator_double import CoordinatorDouble, Reply
from tests.unit.worker.granting import IDENTITY, Clock
from tests.unit.worker.marketplace import ScriptedConnector
from worker.client import CoordinatorUnreachableError
from worker.duty import FatalError
from worker.policy_watch import PolicyWatch
from worker.registration import Registration

LOST = CoordinatorUnreachableError("lost")
TAKEN = {"policy": policies.to_document(Policy(slots_per_server=9)), "policy_digest": "served", "now": "…"}


class Arrival:
    """A registration and its coordinator."""

    def __init__(self, *replies: Reply) -> None:
        self.watch = PolicyWatch()
        self.coordinator = CoordinatorDouble(Clock(), **{"server-1": list(replies), "deregister": list(replies)})
        self.registration = Registration(self.coordinator, IDENTITY, self.watch)
        self.waits: list[float] = []

    def register(self, tries: int = 100) -> bool:
        connectors = {"example": ScriptedConnector([])}
        return self.registration.register(connectors, lambda: len(self.coordinator.calls) >= tries, self.waits.append)

    def deregister(self, tries: int = 100) -> bool:
        return self.registration.deregister(lambda: len(self.coordinator.calls) >= tries, self.waits.append)


def test_it_says_who_it_is_and_what_it_can_crawl_and_takes_the_policy() -> None:
    arrival = Arrival(TAKEN)
    assert arrival.register()
    ((method, path, body),) = arrival.coordinator.calls
    assert (method, path) == ("PUT", "/servers/server-1")
    assert body["boot_id"] == IDENTITY.boot_id
    assert body["marketplaces"] == [{"marketplace_code": "example", "cursor_format": "example/1"}]
    assert arrival.watch.current.slots_per_server == 9
    arrival.watch.notice("served")
    assert not arrival.watch.changed.is_set()


def test_it_keeps_trying_while_the_coordinator_is_away() -> None:
    arrival = Arrival(LOST, DatabaseUnavailable(), LOST, TAKEN)
    assert arrival.register()
    assert len(arrival.coordinator.calls) == 4
    assert len(arrival.waits) == 3


@pytest.mark.parametrize("trouble", [LOST, DatabaseUnavailable()])
def test_told_to_stop_it_tries_no_more(trouble: Exception) -> None:
    arrival = Arrival(trouble)
    assert not arrival.register(tries=2)
    assert len(arrival.coordinator.calls) == 2


@pytest.mark.parametrize("refusal", [ServerIdInUse("in use"), SignatureInvalid("no such key")])
def test_who_is_refused_does_not_insist(refusal: Exception) -> None:
    arrival = Arrival(refusal)
    with pytest.raises(FatalError, match=str(refusal)):
        arrival.register()
    assert len(arrival.coordinator.calls) == 1


@pytest.mark.parametrize(
    ("replies", "heard"),
    [([204], True), ([LOST, 204], True), ([BootSuperseded()], True), ([SignatureInvalid()], False)],
)
def test_leaving_is_told_until_it_is_heard(replies: list[Reply], heard: bool) -> None:
    assert Arrival(*replies).deregister() is heard


def test_leaving_does_not_take_longer_than_there_is_time() -> None:
    arrival = Arrival(LOST)
    assert not arrival.deregister(tries=3)
    assert len(arrival.coordinator.calls) == 3
