"""Crowds of servers that speak to real coordinators, half of them to each."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from coordinator.database import Database
from tests.integration.scenarios.leadership.candidate import Candidate
from tests.integration.scenarios.leadership.crowding import Crowding
from tests.integration.scenarios.leadership.policing import SetPolicy, policy_setter
from tests.integration.seed import Seed
from tests.integration.served.fixtures import COORDINATORS, Clients
from tests.integration.waits import Connect

Crowds = Callable[[int], list[Candidate]]


@pytest.fixture
def crowd_of(served_client_of: Clients, seed: Seed) -> Crowds:
    """``crowd_of(20)``: so many further registered servers."""
    numbers = itertools.count()

    def make(count: int) -> list[Candidate]:
        crowd = []
        for number in itertools.islice(numbers, count):
            server_id = f"server-{number}"
            boot_id = str(seed.server(server_id))
            crowd.append(Candidate(served_client_of(server_id), server_id, boot_id, number % COORDINATORS))
        return crowd

    return make


@pytest.fixture
def crowding(connect: Connect) -> Crowding:
    """Makes calls meet."""
    return Crowding(connect(), connect(autocommit=True))


@pytest.fixture
def set_policy(database: Database) -> SetPolicy:
    """Changes members of the policy."""
    return policy_setter(database)
