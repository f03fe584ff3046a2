"""Fixtures: two coordinators under gunicorn on the test's database, their clocks moved together, clients that sign."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from coordinator import keys
from coordinator import schema as schema_module
from coordinator.audit import Actor
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from coordinator.vault import Vault, new_key_line, read_key_file
from shared.signing import Signer
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.coordinator.api.client import seconds_of
from tests.integration.mysql import Schema
from tests.integration.served import server
from tests.integration.served.client import Client, Signers
from tests.integration.served.coordinator import CLOCK
from tests.integration.served.server import Served

AUTHORITY = "coordinator.test"
COORDINATORS = 2
THREADS = 16
Clients = Callable[..., Client]


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key-encryption key of this process's coordinators."""
    path = tmp_path_factory.mktemp("keys") / "key-encryption-key"
    path.write_text(new_key_line())
    path.chmod(0o400)
    return path


@pytest.fixture
def vault(key_file: Path) -> Vault:
    """Seals with that key."""
    return Vault(read_key_file(key_file, private=True))


@pytest.fixture
def signer_of(database: Database, vault: Vault, session_clock: Clock) -> Signers:
    """Issues a key and returns its signer, whose clock is the test's."""

    def issue(owner: str, role: Role = Role.SERVER, key_id: str | None = None) -> Signer:
        chosen = key_id or owner
        secret = database.transaction(
            lambda tx: keys.issue(
                tx, vault, key_id=chosen, role=role, owner=owner, expires_at=None, actor=Actor("test")
            )
        )
        return Signer(chosen, secret, now=lambda: seconds_of(session_clock))

    return issue


@pytest.fixture(scope="session")
def served_coordinators(
    schema: Schema, key_file: Path, clock_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Served]]:
    """They run as long as the test process; the tables are emptied under them between tests."""
    home = tmp_path_factory.mktemp("home")
    _record_schema(schema)
    settings = {
        "COORDINATOR_ORIGIN": f"http://{AUTHORITY}",
        "COORDINATOR_KEY_FILE": str(key_file),
        "COORDINATOR_DATABASE_SOCKET": schema.server.unix_socket,
        "COORDINATOR_DATABASE_USER": "root",
        "COORDINATOR_DATABASE_NAME": schema.name,
        CLOCK: str(clock_file),
    }
    with ExitStack() as running:
        made = []
        for _ in range(COORDINATORS):
            served = server.start(settings, home, server.INSTRUMENTED, threads=THREADS)
            running.callback(served.kill)
            made.append(served)
        yield made


@pytest.fixture
def served_client_of(served_coordinators: list[Served], signer_of: Signers) -> Clients:
    """Issues a key and returns its client: ``served_client_of("ann", Role.OPERATOR)``; a server's unless told."""

    def make(owner: str, role: Role = Role.SERVER, key_id: str | None = None) -> Client:
        return Client(served_coordinators, AUTHORITY, signer_of(owner, role, key_id))

    return make


def _record_schema(made: Schema) -> None:
    """What ``coordinator schema apply`` notes: it has to be there when a coordinator starts."""
    database = Database(DatabaseSettings(unix_socket=made.server.unix_socket, user="root", password="", name=made.name))
    try:
        database.transaction(lambda tx: schema_module.record(tx, made.name, schema_module.NEWEST_SUPPORTED_VERSION))
    finally:
        database.dispose()
