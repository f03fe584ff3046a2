"""The coordinator under gunicorn, as its command starts it, and the other commands of ``coordinator``."""

import base64
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from coordinator.connections import DatabaseSettings
from coordinator.vault import new_key_line
from deploy.cluster.interruption import Pause
from deploy.cluster.loopback import answers
from deploy.cluster.processes import Child, Program, run, start

START_SECONDS = 60.0
COMMAND_SECONDS = 120.0


@dataclass(frozen=True)
class CoordinatorSettings:
    """What coordinators of one cluster are told; ``key_file`` holds the key-encryption key.

    ``module`` is what serves, ``more`` are variables that it gets besides.
    """

    port: int
    key_file: Path
    database: DatabaseSettings
    logs: Path
    notes: Path
    module: str = "coordinator"
    more: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Where workers and people reach it."""
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """The settings as variables: enough for any ``coordinator`` command."""
        database = self.database
        return {
            "COORDINATOR_ORIGIN": self.origin,
            "COORDINATOR_KEY_FILE": str(self.key_file),
            "COORDINATOR_DATABASE_SOCKET": database.unix_socket or "",
            "COORDINATOR_DATABASE_USER": database.user,
            "COORDINATOR_DATABASE_PASSWORD": database.password,
            "COORDINATOR_DATABASE_NAME": database.name,
            **self.more,
        }

    def as_user(self, user: str, password: str) -> "CoordinatorSettings":
        """The same for another user of the database: changing structures takes one that may."""
        return replace(self, database=replace(self.database, user=user, password=password))


def make_key_file(file: Path) -> None:
    """A new key-encryption key, readable by this user only."""
    file.touch(mode=0o400)
    file.chmod(0o600)
    file.write_text(new_key_line(), "ascii")
    file.chmod(0o400)


def read_secret(file: Path) -> bytes:
    """The secret of a signing key as ``coordinator keys issue --out`` wrote it."""
    return base64.b64decode(file.read_bytes())


def commands(settings: CoordinatorSettings, *lines: Sequence[str], pause: Pause = time.sleep) -> None:
    """Run ``coordinator`` commands side by side, each given as its words.

    Raises ``ProcessFailed`` for the first that is refused.
    """
    programs = [_program(settings, f"coordinator-command-{place}", words) for place, words in enumerate(lines)]
    run(programs, settings.notes, COMMAND_SECONDS, pause)


def serve(settings: CoordinatorSettings, pause: Pause = time.sleep) -> Child:
    """Start it and wait until it is ready. Raises ``ProcessFailed``."""
    words = ["serve", "--bind", f"127.0.0.1:{settings.port}", "--graceful-timeout", "5"]
    ready = f"{settings.origin}/readyz"
    return start(_program(settings, "coordinator", words), settings.notes, lambda: answers(ready), START_SECONDS, pause)


def _program(settings: CoordinatorSettings, name: str, words: Sequence[str]) -> Program:
    log = settings.logs / ("coordinator.log" if name == "coordinator" else "coordinator-commands.log")
    module = settings.module if name == "coordinator" else "coordinator"
    return Program(name, [sys.executable, "-m", module, *words], log, settings.environment())
