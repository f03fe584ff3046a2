"""The coordinator's benchmarks run on the real server, with the fixtures of the integration tests."""

from __future__ import annotations

from tests.integration.conftest import (
    _mysql_process,
    connect,
    database,
    database_settings,
    empty_schema,
    mysql_server,
    schema,
    seed,
    session_clock,
)
from tests.integration.coordinator.conftest import acting

__all__ = [
    "_mysql_process",
    "acting",
    "connect",
    "database",
    "database_settings",
    "empty_schema",
    "mysql_server",
    "schema",
    "seed",
    "session_clock",
]
