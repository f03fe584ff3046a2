"""The real application on the test's database, and clients that sign as servers and operators do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from coordinator import keys
from coordinator.api.application import create_app
from coordinator.api.services import Services
from coordinator.audit import Actor
from coordinator.configuration import Configuration
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from coordinator.vault import Vault, new_key_line, read_key_file
from shared.signing import Signer
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.coordinator.api.client import SignedClient, seconds_of

AUTHORITY = "coordinator.test"
Signers = Callable[..., Signer]
Clients = Callable[..., SignedClient]


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("keys") / "key-encryption-key"
    path.write_text(new_key_line())
    path.chmod(0o400)
    return path


@pytest.fixture
def vault(key_file: Path) -> Vault:
    return Vault(read_key_file(key_file, private=True))


@pytest.fixture
def configuration(key_file: Path, database_settings: DatabaseSettings) -> Configuration:
    return Configuration(
        production=False, authority=AUTHORITY, log_level="info", key_file=key_file, database=database_settings
    )


@pytest.fixture
def app(configuration: Configuration) -> Iterator[Flask]:
    """The application as ``coordinator serve`` runs it."""
    made = create_app(configuration)
    yield made
    services: Services = made.extensions["coordinator"]
    services.database.dispose()


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


@pytest.fixture
def client_of(app: Flask, signer_of: Signers) -> Clients:
    """A client with a key of its own: ``client_of("server-1")``, ``client_of("ann", Role.OPERATOR)``."""

    def make(owner: str, role: Role = Role.SERVER, key_id: str | None = None) -> SignedClient:
        return SignedClient(app, AUTHORITY, signer_of(owner, role, key_id))

    return make
