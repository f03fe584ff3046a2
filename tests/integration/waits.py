"""Waiting in tests for what really happened, instead of for a time: a lock that is waited for, an instant that passed.

The server itself is asked, again and again. A deadline turns a wait that would never end into a failure.
"""

from __future__ import annotations

import datetime
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

import pymysql
from pymysql.cursors import DictCursor

T = TypeVar("T")
Connection: TypeAlias = "pymysql.Connection[DictCursor]"
Connect: TypeAlias = Callable[..., Connection]

DEADLINE_SECONDS = 10


def until(connection: Connection, question: str, *values: object) -> None:
    """Ask until the answer (the first column of the first row) is true. The connection must commit each statement."""
    give_up = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < give_up:
        with connection.cursor() as cursor:
            cursor.execute(question, values)
            row = cursor.fetchone()
        if row and next(iter(row.values())):
            return
    raise AssertionError(f"not so within {DEADLINE_SECONDS} s: {question} {values}")


def until_lock_waits(connection: Connection, count: int = 1) -> None:
    """Until so many transactions wait for row locks of this connection's database."""
    until(
        connection,
        "SELECT COUNT(DISTINCT waits.requesting_engine_transaction_id) >= %s"
        " FROM performance_schema.data_lock_waits waits"
        " JOIN performance_schema.data_locks locks ON locks.engine_lock_id = waits.requesting_engine_lock_id"
        " WHERE locks.object_schema = DATABASE()",
        count,
    )


def until_passed(connection: Connection, instant: datetime.datetime) -> None:
    """Until the server's clock has reached the instant (naive UTC)."""
    until(connection, "SELECT UTC_TIMESTAMP(6) >= %s", instant)


@contextmanager
def held(connection: Connection, query: str, *values: object) -> Iterator[Connection]:
    """Run a locking statement in a transaction that commits at the end of the block."""
    connection.begin()
    with connection.cursor() as cursor:
        cursor.execute(query, values)
    try:
        yield connection
    finally:
        connection.commit()


def in_thread(work: Callable[[], T]) -> Future[T]:
    """Run ``work`` in a thread of its own; the future has what it returned or raised."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return future


def together(*works: Callable[[], Any]) -> list[Any]:
    """Run all ``works`` at the same time, each in its own thread; their results, or the errors they raised."""
    barrier = threading.Barrier(len(works))

    def started(work: Callable[[], Any]) -> Callable[[], Any]:
        def run() -> Any:
            barrier.wait(DEADLINE_SECONDS)
            return work()

        return run

    futures = [in_thread(started(work)) for work in works]
    return [future.exception(60) or future.result() for future in futures]
