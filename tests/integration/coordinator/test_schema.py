"""Creating, migrating and verifying the schema on a real server, on databases of these tests' own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pymysql
import pytest
from pymysql.cursors import DictCursor

from coordinator import migrations, schema, structure
from coordinator.connections import Connector, DatabaseSettings
from coordinator.database import Database
from coordinator.schema import SchemaError, Session, State
from tests.integration.mysql import Server

OLDEST = (Path(__file__).parent / "oldest_schema.sql").read_text(encoding="utf-8")
NAME = f"schema_test_{os.getpid()}"  # the processes of one run share their server
Sql = Callable[[str], list[dict[str, object]]]


DRIFTS = [
    ("ALTER TABLE accounts DROP INDEX accounts_due", "index accounts.accounts_due is missing"),
    ("ALTER TABLE accounts ADD INDEX extra (size)", "index accounts.extra is there and should not be"),
    (
        "ALTER TABLE crawl_tasks DROP INDEX crawl_tasks_active, ADD INDEX crawl_tasks_active (active_account_id)",
        "index crawl_tasks.crawl_tasks_active is index",
    ),
    (
        "ALTER TABLE crawl_tasks ALTER INDEX crawl_tasks_dispatch INVISIBLE",
        "index crawl_tasks.crawl_tasks_dispatch is",
    ),
    ("ALTER TABLE accounts MODIFY size BIGINT NULL", "column accounts.size is bigint"),
    (
        "ALTER TABLE accounts MODIFY suspended_at DATETIME(6) NOT NULL",
        "column accounts.suspended_at is datetime(6) NOT",
    ),
    ("ALTER TABLE accounts ALTER paused SET DEFAULT 1", "column accounts.paused is"),
    ("ALTER TABLE accounts ADD note TEXT", "column accounts.note is there and should not be"),
    (
        "ALTER TABLE accounts MODIFY account_ref VARCHAR(128) COLLATE utf8mb4_0900_ai_ci NOT NULL",
        "column accounts.account_ref is",
    ),
    (
        "ALTER TABLE accounts DROP CHECK accounts_refresh_positive",
        "check accounts.accounts_refresh_positive is missing",
    ),
    (
        "ALTER TABLE marketplaces ALTER CHECK marketplaces_quota_positive NOT ENFORCED",
        "check marketplaces.marketplaces_quota_positive is",
    ),
    ("ALTER TABLE crawl_tasks DROP FOREIGN KEY crawl_tasks_seat", "foreign key crawl_tasks.crawl_tasks_seat"),
    ("DROP TABLE server_samples", "table server_samples is missing"),
    ("CREATE TABLE more (id INT PRIMARY KEY)", "table more is there and should not be"),
]


@pytest.fixture
def settings(mysql_server: Server) -> Iterator[DatabaseSettings]:
    """A database that does not exist yet, and is gone afterwards."""
    with closing(mysql_server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {NAME}")
        yield DatabaseSettings(unix_socket=mysql_server.unix_socket, user="root", password="", name=NAME)
        cursor.execute(f"DROP DATABASE IF EXISTS {NAME}")


@pytest.fixture
def connector(settings: DatabaseSettings) -> Connector:
    return Connector(settings)


@pytest.fixture
def sql(connector: Connector) -> Iterator[Sql]:
    """Runs one statement in the test's database and returns its rows."""
    opened: list[pymysql.Connection[DictCursor]] = []

    def run(statement: str) -> list[dict[str, object]]:
        if not opened:
            opened.append(connector.connect(autocommit=True))
        with opened[0].cursor() as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    yield run
    for connection in opened:
        connection.close()


def read_state(settings: DatabaseSettings) -> State:
    database = Database(settings)
    try:
        return database.transaction(lambda tx: schema.read_state(tx, settings.name))
    finally:
        database.dispose()


def load(connector: Connector, script: str) -> None:
    with closing(Session(connector)) as session:
        session.run(f"CREATE DATABASE IF NOT EXISTS {NAME} COLLATE utf8mb4_0900_bin; USE {NAME}; {script}")


def test_apply_creates_an_empty_database_and_records_it(connector: Connector, settings: DatabaseSettings) -> None:
    applied = schema.apply(connector, NAME)
    assert (applied.created, applied.version) == (True, schema.NEWEST_SUPPORTED_VERSION)
    state = read_state(settings)
    assert state == State(schema.NEWEST_SUPPORTED_VERSION, ())
    assert state.problems() == []
    assert schema.verify(connector, NAME) == []


def test_applying_again_changes_nothing(connector: Connector, settings: DatabaseSettings) -> None:
    schema.apply(connector, NAME)
    again = schema.apply(connector, NAME)
    assert (again.created, again.migrations) == (False, ())
    assert read_state(settings).problems() == []


def test_the_oldest_schema_and_all_migrations_are_the_schema(connector: Connector) -> None:
    steps = migrations.in_order()
    assert steps, "there is no migration to prove"
    with closing(Session(connector)) as session, session.scratch(schema.script()) as expected:
        moved_on = ";".join([OLDEST.rstrip().removesuffix(";"), *(step.statement for step in steps)])
        with session.scratch(OLDEST) as oldest:
            assert structure.drift(expected, oldest), "the oldest schema is the newest: the migrations prove nothing"
        with session.scratch(moved_on) as found:
            assert structure.drift(expected, found) == []


def test_migrations_are_numbered_without_gaps_and_single_statements(connector: Connector) -> None:
    steps = migrations.in_order()
    assert [step.version for step in steps] == list(range(2, schema.NEWEST_SUPPORTED_VERSION + 1))
    with closing(Session(connector)) as session:
        session.run(f"CREATE DATABASE {NAME} COLLATE utf8mb4_0900_bin; USE {NAME}; {OLDEST}")
    with closing(connector.connect(autocommit=True)) as one_statement_only, one_statement_only.cursor() as cursor:
        for step in steps:
            cursor.execute(step.statement)


def test_an_older_database_is_moved_on_with_its_rows(
    connector: Connector, settings: DatabaseSettings, sql: Sql
) -> None:
    load(connector, OLDEST)
    sql("INSERT INTO operators (operator_name, role, created_at) VALUES ('ann', 'operator', '2026-01-01')")
    sql("INSERT INTO schema_state VALUES (1, 1, REPEAT('x', 32), '{}', '2026-01-01')")
    applied = schema.apply(connector, NAME)
    assert (applied.created, applied.version) == (False, schema.NEWEST_SUPPORTED_VERSION)
    assert list(applied.migrations) == [step.name for step in migrations.in_order()]
    assert schema.verify(connector, NAME) == []
    assert read_state(settings).problems() == []
    assert sql("SELECT operator_name, disabled_at FROM operators") == [{"operator_name": "ann", "disabled_at": None}]


def test_a_migration_whose_record_was_lost_in_a_crash_is_not_run_again(
    connector: Connector, settings: DatabaseSettings, sql: Sql
) -> None:
    load(connector, OLDEST)
    sql("INSERT INTO schema_state VALUES (1, 1, REPEAT('x', 32), '{}', '2026-01-01')")
    sql(migrations.in_order()[0].statement)
    schema.apply(connector, NAME)
    assert read_state(settings).problems() == []
    assert schema.verify(connector, NAME) == []


def test_a_migration_that_fails_is_named_and_not_recorded(connector: Connector, sql: Sql) -> None:
    load(connector, OLDEST)
    sql("INSERT INTO schema_state VALUES (1, 1, REPEAT('x', 32), '{}', '2026-01-01')")
    sql("DROP TABLE operators")
    with pytest.raises(SchemaError, match="0002_disable_operators"):
        schema.apply(connector, NAME)
    assert sql("SELECT schema_version FROM schema_state") == [{"schema_version": 1}]


def test_a_database_that_is_not_ours_is_left_alone(connector: Connector, sql: Sql) -> None:
    load(connector, "CREATE TABLE something (id INT PRIMARY KEY)")
    with pytest.raises(SchemaError, match="not ours"):
        schema.apply(connector, NAME)
    assert len(sql("SHOW TABLES")) == 1


def test_a_newer_database_is_left_alone(connector: Connector, settings: DatabaseSettings, sql: Sql) -> None:
    schema.apply(connector, NAME)
    sql("UPDATE schema_state SET schema_version = 99")
    with pytest.raises(SchemaError, match="newer"):
        schema.apply(connector, NAME)
    assert "run a newer one" in read_state(settings).problems()[0]


def test_an_old_database_is_named_with_the_window(connector: Connector, settings: DatabaseSettings, sql: Sql) -> None:
    schema.apply(connector, NAME)
    sql("UPDATE schema_state SET schema_version = 1")
    assert "coordinator schema apply" in read_state(settings).problems()[0]


def test_a_database_without_a_schema_is_named(connector: Connector, settings: DatabaseSettings) -> None:
    load(connector, "")
    assert "coordinator schema apply" in read_state(settings).problems()[0]


@pytest.mark.parametrize("name", ["", "a-b", "a`b", "x" * 60])
def test_a_database_name_that_could_not_be_quoted_is_refused(connector: Connector, name: str) -> None:
    with pytest.raises(SchemaError, match="database_name"):
        schema.apply(connector, name)


def test_each_drift_is_named_with_and_without_rights_to_change(
    connector: Connector, settings: DatabaseSettings, sql: Sql
) -> None:
    schema.apply(connector, NAME)
    for change, _ in DRIFTS:
        sql(change)
    for found in (schema.verify(connector, NAME), list(read_state(settings).drift)):
        unnamed = [named for _, named in DRIFTS if not any(line.startswith(named) for line in found)]
        assert unnamed == [], found


def test_the_fingerprint_is_seen_by_a_user_who_may_only_read_and_write_rows(
    connector: Connector, settings: DatabaseSettings, mysql_server: Server
) -> None:
    schema.apply(connector, NAME)
    with closing(mysql_server.connect(autocommit=True)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE USER IF NOT EXISTS plain_user@localhost IDENTIFIED BY 'a plain word'")
        try:
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {NAME}.* TO plain_user@localhost")
            state = read_state(replace(settings, user="plain_user", password="a plain word"))
        finally:
            cursor.execute("DROP USER plain_user@localhost")
    assert state.problems() == []


def test_scratch_databases_are_gone_afterwards(connector: Connector, sql: Sql) -> None:
    schema.apply(connector, NAME)
    schema.verify(connector, NAME)
    assert sql("SHOW DATABASES LIKE 'schema_scratch%'") == []
