"""A cluster of real processes below one folder: MySQL, coordinator, servers, and marketplaces where wanted."""

import secrets
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from deploy.cluster import coordinator_process, processes, worker_process
from deploy.cluster.coordinator_process import CoordinatorSettings
from deploy.cluster.interruption import Pause
from deploy.cluster.loopback import free_port
from deploy.cluster.mysql_server import MySQLServer
from deploy.cluster.processes import Child
from deploy.cluster.profile import SeededAccount
from deploy.cluster.sandbox_process import DESCRIPTIONS, Sandbox
from deploy.cluster.worker_process import WorkerSettings
from deploy.sandbox.settings import Conduct
from shared.states import Role
from worker.client import Client
from worker.connectors.origin import Origin
from worker.transport import Transport

DATABASE = "marketplace"
_USER = "coordinator"


@dataclass(frozen=True)
class Modules:
    """The programs of a cluster, by the names of their modules, and variables that they all get."""

    coordinator: str = "coordinator"
    worker: str = "worker"
    settings: Mapping[str, str] = field(default_factory=dict)


class Cluster:
    """Starts processes on demand; leaving the ``with`` block ends them all, servers first and the database last.

    ``folder`` is this cluster's alone. Waits go by ``pause``, which may raise to give up; ``hurry()`` says that
    nobody wants to wait for orderly ends. All that starts something raises ``processes.ProcessFailed``. ``modules`` are
    the programs that serve and crawl.
    """

    def __init__(
        self,
        folder: Path,
        programs: Path,
        pause: Pause = time.sleep,
        hurry: Callable[[], bool] = lambda: False,
        modules: Modules = Modules(),
    ) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self.notes = folder / "run"
        self.mysql = MySQLServer(programs, folder / "mysql", self.logs, self.notes)
        self.servers: dict[str, Child] = {}
        self.core: list[Child] = []
        self._pause = pause
        self._hurry = hurry
        self._modules = modules
        self._settings = CoordinatorSettings(
            port=free_port(),
            key_file=folder / "keys" / "key-encryption-key",
            database=self.mysql.settings(_USER, secrets.token_urlsafe(24), DATABASE),
            logs=self.logs,
            notes=self.notes,
            module=modules.coordinator,
            more=modules.settings,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def settings(self) -> CoordinatorSettings:
        """What the coordinator is told."""
        return self._settings

    def start_database(self) -> None:
        """A new database with the schema in it, and an encryption key for its secrets."""
        self.core.append(self.mysql.start(self._pause))
        database = self._settings.database
        self.mysql.create_database(database.name, database.user, database.password)
        self._settings.key_file.parent.mkdir(mode=0o700)
        coordinator_process.make_key_file(self._settings.key_file)
        administrator = self._settings.as_user("root", "")
        coordinator_process.commands(administrator, ("schema", "apply"), pause=self._pause)

    def command(self, *words: str) -> None:
        """Run a ``coordinator`` command."""
        self.commands(words)

    def commands(self, *lines: Sequence[str]) -> None:
        """Run ``coordinator`` commands side by side, each given as its words."""
        coordinator_process.commands(self._settings, *lines, pause=self._pause)

    def issue_key(self, owner: str, role: Role = Role.SERVER) -> Path:
        """A new signing key; returns the file of its secret."""
        return self.issue_keys({owner: role})[owner]

    def issue_keys(self, owners: Mapping[str, Role]) -> dict[str, Path]:
        """New signing keys, one for each owner; returns the files of their secrets."""
        files = {owner: self._settings.key_file.parent / owner for owner in owners}
        issue = ("keys", "issue", "--role")
        self.commands(*((*issue, owners[owner], "--owner", owner, "--out", str(files[owner])) for owner in owners))
        return files

    def start_coordinator(self) -> Child:
        """The coordinator, ready."""
        child = coordinator_process.serve(self._settings, self._pause)
        self.core.append(child)
        return child

    def start_sandbox(self, accounts: Iterable[SeededAccount], conduct: Conduct, seed: int) -> Sandbox:
        """The marketplaces, ready."""
        sandbox = Sandbox.start(accounts, conduct, seed, self.folder, self.logs, self.notes, self._pause)
        self.core.append(sandbox.child)
        return sandbox

    def start_server(
        self, server_id: str, key_file: Path, origins: Mapping[str, str], descriptions: Path = DESCRIPTIONS
    ) -> Child:
        """A worker daemon; it registers by itself. One that was started before must have ended."""
        settings = WorkerSettings(
            server_id=server_id,
            key_file=key_file,
            coordinator=self._settings.origin,
            descriptions=descriptions,
            origins=origins,
            state_folder=self.folder / "state",
            logs=self.logs,
            notes=self.notes,
            module=self._modules.worker,
            more=self._modules.settings,
        )
        child = worker_process.start(settings)
        self.servers[server_id] = child
        return child

    def client(self, key_id: str, key_file: Path) -> Client:
        """Speaks to the coordinator with one key."""
        secret = coordinator_process.read_secret(key_file)
        return Client(Transport(Origin.parse(self._settings.origin)), key_id, secret)

    def stop(self) -> None:
        """End what runs, in order: servers drain while the coordinator still answers."""
        processes.stop(list(self.servers.values()), worker_process.DRAIN_SECONDS + 5, self._hurry)
        self.servers.clear()
        while self.core:
            self.core[-1].stop(hurry=self._hurry)
            self.core.pop()

    def clear(self) -> None:
        """Remove an earlier cluster's files from the folder; nothing of it may run any more."""
        for name in ("mysql", "keys", "state", "logs"):
            shutil.rmtree(self.folder / name, ignore_errors=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
