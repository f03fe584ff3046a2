"""Transactions: whole or not at all, repeated after a deadlock, never after a commit that may have happened."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pymysql
import pytest
from pymysql.cursors import DictCursor
from sqlalchemy import event

from coordinator import queries
from coordinator.connections import DatabaseSettings
from coordinator.database import MAX_ATTEMPTS, Database, Transaction
from shared.problems import DatabaseUnavailable, NotFound
from tests.integration.seed import Seed

Connect = Callable[..., "pymysql.Connection[DictCursor]"]

STATEMENTS = {
    "test_nonces": "SELECT created, key_id, nonce FROM nonces ORDER BY created, key_id, nonce",
    "test_lock": "SELECT created FROM nonces WHERE created = %(created)s FOR UPDATE",
    "test_touch": "UPDATE nonces SET key_id = key_id WHERE created = %(created)s",
    "test_in": "SELECT created FROM nonces WHERE created IN %(ids)s ORDER BY created",
    "test_upsert": (
        "INSERT INTO partners (partner_code, name, created_at)\n"
        "VALUES (%(code)s, CONCAT(%(name)s, ' 100%%'), %(now)s) AS fresh\n"
        "ON DUPLICATE KEY UPDATE name = fresh.name"
    ),
    "test_partners": "SELECT partner_code, name FROM partners ORDER BY partner_code",
    "test_partner": "INSERT INTO partners (partner_code, name, created_at) VALUES (%(code)s, 'x', %(now)s)",
    "test_settings": (
        "SELECT @@transaction_isolation AS isolation, @@time_zone AS zone, @@sql_mode AS sql_mode,"
        " @@innodb_lock_wait_timeout AS lock_wait, @@character_set_connection AS charset"
    ),
    "test_kill": "KILL CONNECTION_ID()",
    "test_uuid": "SELECT %(value)s AS value",
}


@pytest.fixture(autouse=True)
def statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statements of these tests' own, beside the real ones."""
    real = queries.sql

    def sql(name: str) -> str:
        return STATEMENTS.get(name) or real(name)

    monkeypatch.setattr(queries, "sql", sql)
    queries.many_rows.cache_clear()


@pytest.fixture
def nonces(seed: Seed) -> None:
    for created in (1, 2):
        seed.insert("nonces", created=created, key_id="k", nonce=b"n")


@pytest.fixture
def statement_count(database: Database) -> Callable[[], int]:
    """How many INSERT statements the pool's connection, one while nothing overlaps, has executed since now."""

    def count() -> int:
        with closing(database.engine.raw_connection()) as connection, closing(connection.cursor(DictCursor)) as cursor:
            cursor.execute("SHOW SESSION STATUS LIKE 'Com_insert'")
            row: dict[str, Any] = cursor.fetchone() or {}
            return int(row["Value"])

    before = count()
    return lambda: count() - before


def insert_nonce(tx: Transaction, created: int) -> None:
    tx.execute("nonce_insert", created=created, key_id="k", nonce=b"n")


def test_the_session_has_the_settings_that_we_rely_on(database: Database) -> None:
    row = database.transaction(lambda tx: tx.one("test_settings"))
    assert row is not None
    assert (row["isolation"], row["zone"], row["lock_wait"], row["charset"]) == (
        "READ-COMMITTED",
        "+00:00",
        5,
        "utf8mb4",
    )
    assert "STRICT_TRANS_TABLES" in row["sql_mode"]


def test_what_work_wrote_is_committed(database: Database, seed: Seed) -> None:
    database.transaction(lambda tx: insert_nonce(tx, 5))
    assert seed.count("nonces", created=5) == 1


def test_an_exception_undoes_everything(database: Database, seed: Seed) -> None:
    def work(tx: Transaction) -> None:
        insert_nonce(tx, 5)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        database.transaction(work)
    assert seed.count("nonces") == 0


def test_a_problem_undoes_work_and_keeps_what_came_first(database: Database, seed: Seed) -> None:
    def work(tx: Transaction) -> None:
        insert_nonce(tx, 6)
        raise NotFound("no")

    with pytest.raises(NotFound):
        database.transaction(work, first=lambda tx: insert_nonce(tx, 5))
    assert [row["created"] for row in seed.rows("SELECT created FROM nonces")] == [5]


def test_a_problem_of_the_first_part_undoes_it(database: Database, seed: Seed) -> None:
    def first(tx: Transaction) -> None:
        insert_nonce(tx, 5)
        raise NotFound("no")

    with pytest.raises(NotFound):
        database.transaction(lambda tx: insert_nonce(tx, 6), first=first)
    assert seed.count("nonces") == 0


def test_row_locks_survive_a_refusal_s_savepoint(database: Database, connect: Connect, nonces: None) -> None:
    other = connect()

    def refuse(tx: Transaction) -> None:
        with tx.savepoint():
            tx.one("test_lock", created=1)
            raise NotFound("no")

    def work(tx: Transaction) -> None:
        insert_nonce(tx, 5)
        with pytest.raises(NotFound):
            refuse(tx)
        with other.cursor() as cursor, pytest.raises(pymysql.err.OperationalError) as refused:
            cursor.execute("SELECT 1 FROM nonces WHERE created = 1 FOR UPDATE NOWAIT")
        assert refused.value.args[0] == 3572

    database.transaction(work)


def test_matched_rows_are_counted_even_when_nothing_changes(database: Database, nonces: None) -> None:
    assert database.transaction(lambda tx: tx.execute("test_touch", created=1)) == 1
    assert database.transaction(lambda tx: tx.execute("test_touch", created=9)) == 0


def test_one_row_means_at_most_one(database: Database, nonces: None) -> None:
    assert database.transaction(lambda tx: tx.one("test_lock", created=9)) is None
    with pytest.raises(LookupError, match="test_nonces"):
        database.transaction(lambda tx: tx.one("test_nonces"))


def test_a_list_expands_and_an_empty_one_is_refused(database: Database, nonces: None) -> None:
    for ids in ([1, 2, 3], (1, 2, 3)):
        rows = database.transaction(lambda tx, ids=ids: tx.all("test_in", ids=ids))
        assert [row["created"] for row in rows] == [1, 2]
    with pytest.raises(ValueError, match="ids is empty"):
        database.transaction(lambda tx: tx.all("test_in", ids=[]))


def test_an_insert_returns_its_number(database: Database, seed: Seed) -> None:
    number = database.transaction(lambda tx: tx.insert("test_partner", code="a", now=tx.now()))
    assert seed.row("partners", partner_code="a")["partner_id"] == number


def test_uuids_are_written_as_their_bytes(database: Database) -> None:
    value = uuid.uuid4()
    row = database.transaction(lambda tx: tx.one("test_uuid", value=value))
    assert row == {"value": value.bytes}


def test_an_instant_with_a_time_zone_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match="naive UTC"):
        database.transaction(lambda tx: tx.one("test_uuid", value=datetime.now(UTC)))


def test_text_arrives_unharmed(database: Database) -> None:
    text = "100% 'quoted' \"x\" \\ \u0000 \U0001f600 %(value)s"
    row = database.transaction(lambda tx: tx.one("test_uuid", value=text))
    assert row == {"value": text}


def test_many_rows_take_one_statement_although_it_upserts(
    database: Database, seed: Seed, statement_count: Callable[[], int]
) -> None:
    """A row alias makes PyMySQL's own executemany fall back to a statement per row."""
    rows = [{"code": f"c{number:03}", "name": f"(%s) {number}"} for number in range(100)]

    def work(tx: Transaction) -> int:
        return tx.many("test_upsert", rows, now=tx.now())

    assert database.transaction(work) == 100
    assert statement_count() == 1
    assert seed.count("partners") == 100
    assert seed.row("partners", partner_code="c007")["name"] == "(%s) 7 100%"
    rows[7]["name"] = "changed"
    database.transaction(work)
    assert seed.row("partners", partner_code="c007")["name"] == "changed 100%"
    assert statement_count() == 2


def test_no_rows_take_no_statement(database: Database, statement_count: Callable[[], int]) -> None:
    assert database.transaction(lambda tx: tx.many("test_upsert", [])) == 0
    assert statement_count() == 0


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("INSERT INTO t (a) VALUES (%(a)s)", "(%(a)s)"),
        ("INSERT INTO t (a) VALUES (IF(%(a)s, (1), 2)) AS f ON DUPLICATE KEY UPDATE a = f.a", "(IF(%(a)s, (1), 2))"),
        ("INSERT INTO t SELECT * FROM (VALUES ROW(%(a)s, 1)) AS v", "ROW(%(a)s, 1)"),
    ],
)
def test_a_statement_is_cut_around_its_row(monkeypatch: pytest.MonkeyPatch, text: str, row: str) -> None:
    monkeypatch.setitem(STATEMENTS, "test_cut", text)
    parts = queries.many_rows("test_cut")
    assert parts.row == row
    assert "".join(parts) == text


@pytest.mark.parametrize("text", ["SELECT 1", "INSERT INTO t VALUES (1"])
def test_a_statement_without_a_whole_row_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setitem(STATEMENTS, "test_cut", text)
    with pytest.raises(ValueError, match="test_cut"):
        queries.many_rows("test_cut")


def test_a_deadlock_runs_the_whole_transaction_again(database: Database, seed: Seed, nonces: None) -> None:
    """Two transactions lock two rows in opposite order; both end well, and one was counted as repeated."""
    both_hold_one = threading.Barrier(2)
    attempts = {1: 0, 2: 0}
    failures: list[BaseException] = []

    def opposite(mine: int, other: int) -> None:
        def work(tx: Transaction) -> None:
            attempts[mine] += 1
            insert_nonce(tx, 100 + mine)
            tx.one("test_lock", created=mine)
            if attempts[mine] == 1:
                both_hold_one.wait(timeout=10)
            tx.one("test_lock", created=other)

        try:
            database.transaction(work)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=opposite, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert failures == []
    assert sorted(attempts.values()) == [1, 2]
    assert database.retries == {1213: 1}
    assert sorted(row["created"] for row in seed.rows("SELECT created FROM nonces")) == [1, 2, 101, 102]


class LockWait(pymysql.err.OperationalError):
    """What a lock wait looks like."""

    def __init__(self) -> None:
        super().__init__(1205, "Lock wait timeout exceeded")


def test_a_lock_wait_is_repeated_and_then_given_up(database: Database, seed: Seed) -> None:
    attempts = 0

    def work(tx: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        insert_nonce(tx, attempts)
        raise LockWait

    with pytest.raises(DatabaseUnavailable) as gave_up:
        database.transaction(work)
    assert gave_up.value.retry_after_seconds is not None
    assert attempts == MAX_ATTEMPTS == 5
    assert database.retries == {1205: 5}
    assert seed.count("nonces") == 0


def test_a_real_lock_wait_raises_what_is_repeated(database: Database, connect: Connect, nonces: None) -> None:
    holder = connect()
    with holder.cursor() as cursor:
        cursor.execute("SELECT 1 FROM nonces WHERE created = 1 FOR UPDATE")
    released = False

    def work(tx: Transaction) -> None:
        nonlocal released
        if database.retries:
            holder.rollback()
            released = True
        tx.one("test_lock", created=1)

    database.transaction(work)
    assert released
    assert database.retries == {1205: 1}


def test_a_failed_commit_is_not_repeated(database: Database, connect: Connect) -> None:
    """The connection dies between the last statement and COMMIT: the caller learns that nothing is known."""
    attempts = 0
    killer = connect(autocommit=True)

    def work(tx: Transaction) -> None:
        nonlocal attempts
        attempts += 1
        row = tx.one("test_uuid", value=1)
        assert row
        insert_nonce(tx, 5)
        mine = database.transaction(lambda _: None)
        assert mine is None
        with killer.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id IN"
                " (SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_rows_modified > 0)"
            )
            for found in cursor.fetchall():
                cursor.execute("KILL %s", (next(iter(found.values())),))

    with pytest.raises(DatabaseUnavailable, match="may or may not"):
        database.transaction(work)
    assert attempts == 1
    assert not database.retries


def test_a_connection_lost_in_mid_transaction_undoes_it_and_the_next_one_works(database: Database, seed: Seed) -> None:
    def work(tx: Transaction) -> None:
        insert_nonce(tx, 5)
        tx.execute("test_kill")

    with pytest.raises(DatabaseUnavailable):
        database.transaction(work)
    assert seed.count("nonces") == 0
    database.transaction(lambda tx: insert_nonce(tx, 6))
    assert seed.count("nonces") == 1


def test_a_connection_that_died_in_the_pool_is_replaced_unnoticed(database: Database, connect: Connect) -> None:
    number = database.transaction(lambda tx: tx.one("test_settings"))
    assert number
    with connect(autocommit=True).cursor() as cursor:
        cursor.execute("SELECT CONNECTION_ID() AS mine")
        mine = (cursor.fetchone() or {})["mine"]
        cursor.execute("SELECT id FROM information_schema.processlist WHERE user = 'root' AND command = 'Sleep'")
        ids = [next(iter(row.values())) for row in cursor.fetchall()]
        pooled = _pooled_ids(database)
        assert set(pooled) <= set(ids)
        for found in pooled:
            assert found != mine
            cursor.execute("KILL %s", (found,))
    assert database.transaction(lambda tx: tx.one("test_settings")) == number


def _pooled_ids(database: Database) -> list[int]:
    connection = database.engine.raw_connection()
    try:
        return [connection.dbapi_connection.thread_id()]  # type: ignore[union-attr]  # PyMySQL's own
    finally:
        connection.close()


def test_a_database_that_is_away_is_unavailable(database_settings: DatabaseSettings) -> None:
    nowhere = Database(replace(database_settings, unix_socket=None, port=1))
    with pytest.raises(DatabaseUnavailable) as away:
        nowhere.transaction(lambda tx: tx.now())
    assert (away.value.status, away.value.retry_after_seconds) == (503, 2.0)


def test_a_full_pool_is_unavailable_and_recovers(
    database_settings: DatabaseSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("coordinator.database._POOL_WAIT_SECONDS", 0.05)
    small = Database(replace(database_settings, pool_size=1))
    try:
        with pytest.raises(DatabaseUnavailable):
            small.transaction(lambda _: small.transaction(lambda tx: tx.now()))
        assert small.transaction(lambda tx: tx.now())
    finally:
        small.dispose()


def test_every_connection_goes_back(database: Database) -> None:
    out = 0

    def checked_out(*_: object) -> None:
        nonlocal out
        out += 1

    def checked_in(*_: object) -> None:
        nonlocal out
        out -= 1

    event.listen(database.engine, "checkout", checked_out)
    event.listen(database.engine, "checkin", checked_in)
    database.transaction(lambda tx: tx.now())
    for error in (NotFound("no"), RuntimeError("no")):

        def work(_: Transaction, error: Exception = error) -> None:
            raise error

        with pytest.raises(type(error)):
            database.transaction(work, first=lambda tx: None)
    assert out == 0
