"""Judges one consistent snapshot of the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeAlias

import pymysql
from pymysql.cursors import DictCursor

from tests.invariants import movement, quotas
from tests.invariants.movement import Movement
from tests.invariants.queries import LEADERSHIP, QUICK, THOROUGH

Connection: TypeAlias = "pymysql.Connection[DictCursor]"
Row = dict[str, Any]


def violations(connection: Connection, slots_per_server: int = 3) -> list[str]:
    """All that rows show to be wrong, in sentences; none when all invariants hold. Reads whole tables."""
    with _snapshot(connection) as cursor:
        found = _answers(cursor, LEADERSHIP | QUICK | THOROUGH | dict([quotas.of_server(slots_per_server)]))
        found += [text for row in _rows(cursor, quotas.CLAIMS) for text in quotas.of_claim(row)]
        found += _running(cursor)
    return found


def glance(connection: Connection, movement_so_far: Movement, slots_per_server: int = 3) -> list[str]:
    """What is wrong with what is active now, and what moved back since the glance before."""
    with _snapshot(connection) as cursor:
        found = _answers(cursor, LEADERSHIP | QUICK | dict([quotas.of_server(slots_per_server)]))
        found += [text for row in _rows(cursor, quotas.CLAIMS_OF_RUNNING) for text in quotas.of_claim(row)]
        found += _running(cursor)
        token = _rows(cursor, movement.TOKEN)[0]["fencing_token"]
        tasks, accounts = _rows(cursor, movement.TASKS), _rows(cursor, movement.ACCOUNTS)
    return found + movement_so_far.judge(token, tasks, accounts)


@contextmanager
def _snapshot(connection: Connection) -> Iterator[DictCursor]:
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
        try:
            yield cursor
        finally:
            if connection.open:
                cursor.execute("COMMIT")


def _answers(cursor: DictCursor, queries: Mapping[str, str]) -> list[str]:
    return [text.format(**row) for text, query in queries.items() for row in _rows(cursor, query)]


def _running(cursor: DictCursor) -> list[str]:
    return [text for row in _rows(cursor, quotas.RUNNING) for text in quotas.of_marketplace(row)]


def _rows(cursor: DictCursor, query: str) -> list[Row]:
    cursor.execute(query)
    return list(cursor.fetchall())
