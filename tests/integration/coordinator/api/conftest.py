"""The real application on the test's database, and clients that sign as servers and operators do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask

from coordinator.api.application import create_app
from coordinator.api.services import Services
from coordinator.configuration import Configuration
from coordinator.connections import DatabaseSettings
from shared.states import Role
from tests.integration.coordinator.api.client import SignedClient
from tests.integration.served.client import Signers

AUTHORITY = "coordinator.test"
Clients = Callable[..., SignedClient]


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
def client_of(app: Flask, signer_of: Signers) -> Clients:
    """A client with a key of its own: ``client_of("server-1")``, ``client_of("ann", Role.OPERATOR)``."""

    def make(owner: str, role: Role = Role.SERVER, key_id: str | None = None) -> SignedClient:
        return SignedClient(app, AUTHORITY, signer_of(owner, role, key_id))

    return make
