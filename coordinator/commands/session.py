"""What a command needs: configuration, pool and vault, each made when it is first asked for."""

import getpass
from collections.abc import Callable
from functools import cached_property
from types import TracebackType
from typing import TypeVar

from rich.console import Console

from coordinator import configuration
from coordinator.audit import Actor
from coordinator.configuration import Configuration
from coordinator.connections import Connector
from coordinator.database import Database, Transaction
from coordinator.policies import PolicyReader
from coordinator.vault import Vault

T = TypeVar("T")


class Session:
    """One run of a command; closes its connections at the end."""

    def __init__(self) -> None:
        self.console = Console()

    @cached_property
    def configuration(self) -> Configuration:
        """The settings. Raises ``ConfigurationError``."""
        return configuration.load()

    @cached_property
    def connector(self) -> Connector:
        """For commands that need connections of their own."""
        return Connector(self.configuration.database)

    @cached_property
    def database(self) -> Database:
        """The pool."""
        return Database(self.configuration.database)

    @cached_property
    def policies(self) -> PolicyReader:
        """Reads the policy in force."""
        return PolicyReader()

    @cached_property
    def vault(self) -> Vault:
        """The vault. Raises ``ConfigurationError``."""
        return self.configuration.open_vault()

    @cached_property
    def actor(self) -> Actor:
        """Who runs the command, for the audit."""
        return Actor(f"cli:{getpass.getuser()}")

    def transaction(self, work: Callable[[Transaction], T]) -> T:
        """Run ``work`` in a transaction. Raises its problems and ``DatabaseUnavailable``."""
        return self.database.transaction(work)

    def __enter__(self) -> "Session":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if "database" in self.__dict__:
            self.database.dispose()
