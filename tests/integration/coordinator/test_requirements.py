"""The server as it is: accepted as tested, and refused by name where it or its user does not do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pymysql
import pytest

from coordinator import requirements
from coordinator.connections import Connector, DatabaseSettings
from tests.integration.mysql import Server

PASSWORD = "a plain word"


@pytest.fixture
def plain_user(database_settings: DatabaseSettings, mysql_server: Server) -> Iterator[DatabaseSettings]:
    """A user with the rights that a coordinator needs, and none besides."""
    with closing(mysql_server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        cursor.execute("DROP USER IF EXISTS plain_user@localhost")
        cursor.execute(f"CREATE USER plain_user@localhost IDENTIFIED BY '{PASSWORD}'")
        cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {database_settings.name}.* TO plain_user@localhost")
        yield replace(database_settings, user="plain_user", password=PASSWORD)
        cursor.execute("DROP USER plain_user@localhost")


def test_the_tested_server_is_accepted(database_settings: DatabaseSettings) -> None:
    assert requirements.problems(Connector(database_settings), production=False) == []


def test_production_accepts_a_user_who_may_read_and_write_rows(plain_user: DatabaseSettings) -> None:
    assert requirements.problems(Connector(plain_user), production=True) == []


def test_production_refuses_a_user_who_may_do_more(
    plain_user: DatabaseSettings, database_settings: DatabaseSettings, mysql_server: Server
) -> None:
    (sentence,) = requirements.problems(Connector(database_settings), production=True)
    assert "SELECT, INSERT, UPDATE and DELETE" in sentence
    with closing(mysql_server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        cursor.execute(f"GRANT ALTER ON {plain_user.name}.* TO plain_user@localhost WITH GRANT OPTION")
    (sentence,) = requirements.problems(Connector(plain_user), production=True)
    assert "may ALTER, GRANT OPTION:" in sentence


class Session(Connector):
    """A connector whose sessions get one setting wrong after the start."""

    def __init__(self, settings: DatabaseSettings, statement: str) -> None:
        super().__init__(settings)
        self._statement = statement

    def connect(self, database: str | None = None, **overrides: Any) -> Any:
        connection = super().connect(database, **overrides)
        with connection.cursor() as cursor:
            cursor.execute(self._statement)
        return connection


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("SET SESSION transaction_isolation = 'REPEATABLE-READ'", "transaction_isolation"),
        ("SET SESSION sql_mode = ''", "sql_mode"),
        ("SET SESSION time_zone = '+02:00'", "time_zone"),
        ("SET NAMES latin1", "character_set_connection"),
    ],
)
def test_each_wrong_setting_is_named(database_settings: DatabaseSettings, statement: str, named: str) -> None:
    (sentence,) = requirements.problems(Session(database_settings, statement), production=False)
    assert sentence.startswith(named)


class MariaDb(Connector):
    """A server that calls itself MariaDB, and that refuses session settings which MariaDB does not know."""

    def connect(self, database: str | None = None, **overrides: Any) -> Any:
        if overrides.get("init_command", "") is not None:
            raise pymysql.err.OperationalError(1193, "Unknown system variable 'transaction_isolation'")
        return super().connect(database, **overrides)


def test_mariadb_is_named_although_it_knows_our_settings_not(
    database_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "OLDEST_VERSION", (999, 0, 0))
    (sentence,) = requirements.problems(MariaDb(database_settings), production=False)
    assert "install MySQL 8.0.19 or later" in sentence


def test_a_server_that_is_away_is_named(database_settings: DatabaseSettings) -> None:
    nowhere = Connector(replace(database_settings, unix_socket=None, port=1))
    (sentence,) = requirements.problems(nowhere, production=False)
    assert "cannot be reached" in sentence
