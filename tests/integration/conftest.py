"""Fixtures of the tests that need MySQL: one server per run, a schema per process, empty tables per test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pymysql
import pytest
from pymysql.cursors import DictCursor
from pytest_mysql import factories

from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from tests.integration import clock as clocks
from tests.integration import mysql
from tests.integration.clock import Clock
from tests.integration.mysql import Schema, Server, shared_by_run
from tests.integration.seed import Seed
from tests.integration.served.fixtures import key_file, served_client_of, served_coordinators, signer_of, vault
from tests.integration.served.shared_clock import SharedClock

__all__ = ["key_file", "served_client_of", "served_coordinators", "signer_of", "vault"]

_programs = mysql.programs()
_folder = _programs or Path("/nonexistent")
_mysql_process = factories.mysql_proc(
    mysqld_exec=_folder / "mysqld",
    mysqld_safe=_folder / "mysqld_safe",
    admin_executable=str(_folder / "mysqladmin"),
    host="127.0.0.1",
    user="root",
    port=None,
    params=" ".join(mysql.PARAMETERS),
)


@pytest.fixture(scope="session")
def mysql_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The run's MySQL server; without MySQL on the machine its tests are listed as not run."""
    if _programs is None:
        pytest.skip("no MySQL 8.0.19 or later is installed: deploy/bootstrap installs a private one")

    def start() -> Server:
        process = request.getfixturevalue("_mysql_process")
        return Server(process.unixsocket, process.host, process.port)

    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    with shared_by_run(folder, start) as server:
        yield server


@pytest.fixture(scope="session")
def schema(mysql_server: Server) -> Iterator[Schema]:
    """This process's database, made from ``schema.sql``."""
    made = Schema(mysql_server, f"marketplace_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}")
    yield made
    made.drop()


@pytest.fixture
def empty_schema(schema: Schema) -> Iterator[Schema]:
    """The database with no rows but those of ``schema.sql``; emptied after the test, so that a leak fails its own."""
    yield schema
    schema.empty()


@pytest.fixture(scope="session")
def clock_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where served coordinators look for the time."""
    file = tmp_path_factory.mktemp("clock") / "instant"
    file.touch()
    return file


@pytest.fixture
def session_clock(clock_file: Path) -> Iterator[Clock]:
    """What pools see as the time, here and in served coordinators: the real one, until a test asks for `clock`."""
    clock = SharedClock(clock_file)
    clock.install()
    yield clock
    clock.release()
    clock.remove()


@pytest.fixture
def clock(session_clock: Clock) -> Clock:
    """The session clock, stopped at ``clocks.START``; ``set`` and ``advance`` move it."""
    session_clock.set(clocks.START)
    return session_clock


@pytest.fixture
def database_settings(empty_schema: Schema) -> DatabaseSettings:
    """How the code under test reaches the test's database."""
    return DatabaseSettings(
        unix_socket=empty_schema.server.unix_socket, user="root", password="", name=empty_schema.name
    )


@pytest.fixture
def database(database_settings: DatabaseSettings, session_clock: Clock) -> Iterator[Database]:
    """The code's own way to the test's database: real transactions, real retries, real pool."""
    made = Database(database_settings)
    yield made
    made.dispose()


@pytest.fixture
def connect(empty_schema: Schema) -> Iterator[Callable[..., pymysql.Connection[DictCursor]]]:
    """Further raw connections to the test's database, on the real clock; closed, and so rolled back, at the end."""
    made: list[pymysql.Connection[DictCursor]] = []

    def _connect(**options: object) -> pymysql.Connection[DictCursor]:
        connection = empty_schema.server.connect(empty_schema.name, **options)
        made.append(connection)
        return connection

    yield _connect
    for connection in made:
        if connection.open:
            connection.close()


@pytest.fixture
def seed(connect: Callable[..., pymysql.Connection[DictCursor]], session_clock: Clock) -> Seed:
    """Builder of rows, on a connection of its own that commits each statement."""
    return Seed(connect(autocommit=True), session_clock)
