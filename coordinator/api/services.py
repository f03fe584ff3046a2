"""What a coordinator process has: its configuration, its pool, its authenticator. Held by the Flask application."""

from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app

from coordinator.authentication import Authenticator
from coordinator.configuration import Configuration
from coordinator.database import Database
from coordinator.vault import Vault

_EXTENSION = "coordinator"


@dataclass(frozen=True)
class Services:
    """Made once per application."""

    configuration: Configuration
    database: Database
    vault: Vault
    authenticator: Authenticator


def install(app: Flask, configuration: Configuration) -> Services:
    """Make the services and hang them on the application. Connections are opened at first use."""
    vault = configuration.open_vault()
    database = Database(configuration.database)
    made = Services(configuration, database, vault, Authenticator(database, vault, configuration.authority))
    app.extensions[_EXTENSION] = made
    return made


def services() -> Services:
    """Those of the application that serves the current request."""
    return cast(Services, current_app.extensions[_EXTENSION])
