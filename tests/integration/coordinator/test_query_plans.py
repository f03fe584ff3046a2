"""Every query file does what its header says: which index it rides, and which scan or sort it owns up to."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pymysql
import pytest
from pymysql.cursors import DictCursor

from coordinator import queries
from coordinator.connections import Connector, DatabaseSettings
from tests.integration.coordinator import samples
from tests.integration.coordinator.plans import Header, HeaderError, objections
from tests.integration.coordinator.populated import NOW, populate
from tests.integration.mysql import CHECKOUT, Schema, Server

COORDINATOR = CHECKOUT / "coordinator"
FILES = {file.stem: file for file in sorted((COORDINATOR / "queries").glob("*.sql"))}
PARAMETER = re.compile(r"%\((\w+)\)s")
# A plain INSERT of values has no plan; all others have one.
PLANNED = [name for name in FILES if not re.match(r"INSERT\b(?!.*\bSELECT\b)", queries.sql(name), re.DOTALL)]


@pytest.fixture(scope="module")
def explain(mysql_server: Server) -> Iterator[pymysql.Connection[DictCursor]]:
    """A connection, made as the coordinator makes its own, to a populated database that nothing else uses."""
    schema = Schema(mysql_server, f"plans_{uuid.uuid4().hex[:8]}")
    settings = DatabaseSettings(unix_socket=mysql_server.unix_socket, user="root", password="", name=schema.name)
    connection = Connector(settings).connect()
    populate(connection)
    yield connection
    connection.close()
    schema.drop()


def plan_of(connection: pymysql.Connection[DictCursor], statement: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    """MySQL's plan, as rows. The format is named, since servers differ in their default."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN FORMAT=TRADITIONAL {statement}", values)
        return list(cursor.fetchall())


def values_for(name: str, statement: str) -> dict[str, Any]:
    """Values for the parameters of a statement; fails naming the parameters that have none.

    What an UPDATE only assigns does not matter to its plan, and needs no sample.
    """
    wanted = PARAMETER.findall(statement)
    asked_with = set(PARAMETER.findall(re.sub(r"^UPDATE\b.*?\bSET\b.*\bWHERE\b", "", statement, flags=re.DOTALL)))
    missing = sorted(asked_with - samples.VALUES.keys())
    if missing:
        pytest.fail(f"{name}.sql asks for {', '.join(missing)}: add sample values in {samples.__file__}")
    return {parameter: samples.VALUES.get(parameter) for parameter in wanted}


@pytest.mark.parametrize("name", PLANNED)
def test_a_query_keeps_what_its_header_says(name: str, explain: pymysql.Connection[DictCursor]) -> None:
    header = Header.of(FILES[name].read_text(encoding="utf-8"))
    statement = queries.sql(name)
    plan = plan_of(explain, statement, values_for(name, statement))
    found = objections(header, plan, limited="LIMIT" in statement)
    assert not found, f"{name}.sql: {'; '.join(found)}. The plan:\n" + "\n".join(map(str, plan))


@pytest.mark.parametrize("name", FILES)
def test_a_query_names_indexes_that_exist(name: str, explain: pymysql.Connection[DictCursor]) -> None:
    with explain.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT index_name AS name FROM information_schema.statistics WHERE table_schema = DATABASE()"
        )
        known = {row["name"] for row in cursor.fetchall()}
    unknown = Header.of(FILES[name].read_text(encoding="utf-8")).indexes - known
    assert not unknown, f"{name}.sql names indexes that schema.sql does not have: {sorted(unknown)}"


def test_every_query_is_used_and_every_name_is_a_file() -> None:
    code = "\n".join(file.read_text(encoding="utf-8") for file in sorted(COORDINATOR.rglob("*.py")))
    unused = [name for name in FILES if f'"{name}"' not in code]
    assert not unused, f"no module of the coordinator asks for these query files: {unused}"
    used = set(re.findall(r'\b(?:tx|transaction)\.(?:one|all|execute|insert|many)\(\s*"(\w+)"', code))
    assert used <= FILES.keys(), f"there are no files for these queries: {sorted(used - FILES.keys())}"


class TestTheJudgement:
    """What the test above would miss, or blame wrongly, it would do for every query: so it is tested itself."""

    def judge(
        self, explain: pymysql.Connection[DictCursor], header: str, statement: str, **values: object
    ) -> list[str]:
        plan = plan_of(explain, statement, values)
        return objections(Header.of(f"-- A query.\n{header}"), plan, limited="LIMIT" in statement)

    def test_a_sort_is_found(self, explain: pymysql.Connection[DictCursor]) -> None:
        statement = "SELECT account_id FROM accounts WHERE marketplace_code = 'market-1' ORDER BY size"
        assert self.judge(explain, "-- index: accounts_of_marketplace", statement) == [
            "it sorts (accounts), and the header does not accept a filesort"
        ]
        accepted = "-- index: accounts_of_marketplace\n-- accepts: filesort because a page is short"
        assert self.judge(explain, accepted, statement) == []

    def test_a_scan_is_found(self, explain: pymysql.Connection[DictCursor]) -> None:
        for statement in ("SELECT title FROM listings", "SELECT account_id FROM accounts ORDER BY account_id"):
            found = self.judge(explain, "-- index: PRIMARY", statement)
            assert any("does not accept a scan" in objection for objection in found), (statement, found)

    def test_the_head_of_an_index_is_no_scan(self, explain: pymysql.Connection[DictCursor]) -> None:
        statement = "SELECT account_id, next_due_at FROM accounts ORDER BY next_due_at, account_id LIMIT 5"
        assert self.judge(explain, "-- index: accounts_due", statement) == []

    def test_an_index_that_is_not_ridden_is_found(self, explain: pymysql.Connection[DictCursor]) -> None:
        statement = "SELECT size FROM accounts WHERE account_id = %(account_id)s"
        assert self.judge(explain, "-- index: accounts_due", statement, account_id=700) == [
            "the header names the index accounts_due, but the plan rides PRIMARY"
        ]

    def test_writes_are_judged_too(self, explain: pymysql.Connection[DictCursor]) -> None:
        statement = "UPDATE crawl_tasks SET attempts = 0 WHERE attempts = 1"
        assert "does not accept a scan" in self.judge(explain, "-- index: PRIMARY", statement)[0]
        insert = "INSERT INTO operators (operator_name, role, created_at) VALUES ('new', 'viewer', '2030-01-01')"
        assert self.judge(explain, "-- index: PRIMARY", insert) == []

    @pytest.mark.parametrize(
        ("text", "remedy"),
        [
            ("SELECT 1", "what the query is for"),
            ("-- index: PRIMARY\nSELECT 1", "what the query is for"),
            ("-- One row.\nSELECT 1", "which index the query rides"),
            ("-- One row.\n-- accepts: scan\nSELECT 1", "because"),
            ("-- One row.\n-- accepts: temporary because why not\nSELECT 1", "wants `scan` or `filesort`"),
        ],
    )
    def test_an_incomplete_header_is_refused(self, text: str, remedy: str) -> None:
        with pytest.raises(HeaderError, match=remedy):
            Header.of(text)


def test_the_samples_are_of_rows_that_exist(explain: pymysql.Connection[DictCursor]) -> None:
    with explain.cursor() as cursor:
        cursor.execute(
            "SELECT server_id, state, lease_expires_at > %s AS alive FROM crawl_tasks WHERE task_id = %s",
            (NOW, samples.VALUES["task_id"]),
        )
        assert cursor.fetchone() == {"server_id": samples.VALUES["server_id"], "state": "running", "alive": 1}


def test_every_query_file_is_named_after_a_noun_and_a_verb() -> None:
    assert [name for name in FILES if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
