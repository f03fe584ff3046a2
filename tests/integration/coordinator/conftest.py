"""Fixtures of the coordinator's tests: the domain's calls, and the connections that race and watch."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.database import Database
from tests.integration.coordinator.acting import Acting
from tests.integration.coordinator.commanding import Commanding
from tests.integration.waits import Connect, Connection
from tests.invariants import checker


@pytest.fixture
def acting(database: Database) -> Acting:
    """Servers and operators that call the code under test, by the default policy."""
    return Acting(database)


@pytest.fixture
def commanding(database: Database) -> Commanding:
    """Servers, Chief and operators that look after the cluster, by the default policy."""
    return Commanding(database)


@pytest.fixture
def holder(connect: Connect) -> Connection:
    """A connection that holds locks against the code under test."""
    return connect()


@pytest.fixture
def watcher(connect: Connect) -> Connection:
    """A connection that looks at what happens, each look a statement of its own."""
    return connect(autocommit=True)


@pytest.fixture
def sound(watcher: Connection) -> Callable[[], None]:
    """Fails when an invariant is broken, naming what broke it."""

    def check() -> None:
        assert checker.violations(watcher) == []

    return check
