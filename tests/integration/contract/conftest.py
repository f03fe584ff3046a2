"""Daemons that speak to real coordinators, in a cluster that plain SQL made."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.integration.contract.daemon import Daemon
from tests.integration.seed import Seed
from tests.integration.served.fixtures import Clients
from tests.integration.waits import Connect
from tests.invariants import checker

Daemons = Callable[..., Daemon]


@pytest.fixture
def daemon_of(served_client_of: Clients) -> Daemons:
    """A registered daemon: ``daemon_of("server-1", "bazaar")`` can crawl that marketplace."""

    def start(server_id: str, *marketplaces: str) -> Daemon:
        daemon = Daemon(served_client_of(server_id), server_id)
        answer = daemon.register(*marketplaces)
        assert answer.status == 200, answer.body
        return daemon

    return start


@pytest.fixture
def waiting(seed: Seed) -> Callable[..., int]:
    """Seeds an account with a queued task at a marketplace; returns the task."""

    def make(marketplace: str = "bazaar", size: int | None = 100, **columns: object) -> int:
        return seed.task(seed.account(marketplace, size=size), **columns)

    return make


@pytest.fixture(autouse=True)
def sound(connect: Connect) -> Iterator[None]:
    """Whatever a client did, the invariants hold afterwards."""
    yield
    assert checker.violations(connect(autocommit=True)) == []
