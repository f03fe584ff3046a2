"""What every scenario ends with: the invariants hold."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.waits import Connect
from tests.invariants import checker


@pytest.fixture(autouse=True)
def sound(connect: Connect) -> Iterator[None]:
    """Whatever a scenario did, no invariant is broken afterwards."""
    yield
    assert checker.violations(connect(autocommit=True)) == []
