"""The command ``coordinator``, run in this process on the test's database."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from coordinator import schema
from coordinator.cli import main
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from coordinator.vault import new_key_line

Command = Callable[..., Result]


@pytest.fixture
def applied(database: Database) -> None:
    """The schema's version is recorded, as after ``coordinator schema apply``."""
    name = database.settings.name
    database.transaction(lambda tx: schema.record(tx, name, schema.NEWEST_SUPPORTED_VERSION))


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "key-encryption-key"
    path.write_text(new_key_line())
    path.chmod(0o400)
    return path


@pytest.fixture
def settings(database_settings: DatabaseSettings, key_file: Path) -> dict[str, str]:
    return {
        "COORDINATOR_ORIGIN": "http://127.0.0.1:8080",
        "COORDINATOR_KEY_FILE": str(key_file),
        "COORDINATOR_DATABASE_SOCKET": str(database_settings.unix_socket),
        "COORDINATOR_DATABASE_USER": database_settings.user,
        "COORDINATOR_DATABASE_NAME": database_settings.name,
        "COLUMNS": "200",
    }


@pytest.fixture
def coordinator(settings: dict[str, str]) -> Command:
    """Runs ``coordinator WORD…``; a traceback fails the test at once."""

    def run(*words: str, **environ: str) -> Result:
        result = CliRunner().invoke(main, words, env={**settings, **environ})
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
