"""Transactions on the database: one connection pool per process, deadlock retry, named statements.

Correctness lives in the database; this module only sees to it that a transaction happens wholly, once, or not at
all, and that the caller can tell which.
"""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from random import SystemRandom
from time import sleep
from typing import Any, TypeVar, cast

import pymysql
import structlog
from pymysql.constants import ER
from pymysql.cursors import Cursor, DictCursor
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import PoolProxiedConnection

from coordinator import queries
from coordinator.connections import Connector, DatabaseSettings
from shared.problems import DatabaseUnavailable, Problem

T = TypeVar("T")
Row = dict[str, Any]

MAX_ATTEMPTS = 5
UNAVAILABLE_RETRY_AFTER_SECONDS = 2.0
_POOL_WAIT_SECONDS = 5
_RETRIED = frozenset({ER.LOCK_DEADLOCK, ER.LOCK_WAIT_TIMEOUT})
# Access denied, too many connections, shutting down or killed, read-only (also a group's demoted primary), lost links.
_UNAVAILABLE = frozenset(
    {1040, 1044, 1045, 1049, 1053, 1129, 1130, 1203, 1290, 1317, 1836, 3100, 3168}
    | {2002, 2003, 2006, 2013, 2014, 2055, 4031}
)
_BACKOFF_SECONDS = 0.01
_jitter = SystemRandom()
_log = structlog.get_logger(__name__)


class Transaction:
    """One open transaction; statements are named after their files in ``coordinator/queries``.

    Keyword arguments are the statement's parameters. Instants are naive UTC.
    """

    def __init__(self, cursor: DictCursor) -> None:
        self._cursor = cursor
        self._savepoints = 0

    def now(self) -> datetime:
        """The database's clock. Call it after locking the row whose lease is judged: waiting takes time."""
        self._cursor.execute("SELECT UTC_TIMESTAMP(6) AS now")
        row = cast(Row, self._cursor.fetchone())
        instant: datetime = row["now"]
        return instant

    def one(self, query: str, /, **parameters: Any) -> Row | None:
        """The row, or None. Raises ``LookupError`` when there is more than one."""
        rows = self.all(query, **parameters)
        if len(rows) > 1:
            raise LookupError(f"{query} found {len(rows)} rows where one was expected")
        return rows[0] if rows else None

    def all(self, query: str, /, **parameters: Any) -> list[Row]:
        """The rows, in the statement's order."""
        self._run(queries.sql(query), parameters)
        return list(cast(Sequence[Row], self._cursor.fetchall()))

    def execute(self, query: str, /, **parameters: Any) -> int:
        """How many rows the statement matched, whether or not it changed them."""
        return self._run(queries.sql(query), parameters)

    def insert(self, query: str, /, **parameters: Any) -> int:
        """The number that the database gave the new row."""
        self._run(queries.sql(query), parameters)
        return self._cursor.lastrowid

    def many(self, query: str, /, rows: Sequence[Mapping[str, Any]], **shared: Any) -> int:
        """One statement for all ``rows``: the tuple after VALUES is repeated for each, in the given order.

        ``shared`` parameters may stand anywhere in the statement. Returns what the server counts as affected
        (an upsert counts 1 for a new row, 2 for a changed one). No rows, no statement.
        """
        if not rows:
            return 0
        parts = queries.many_rows(query)
        tuples = ", ".join(self._bind(parts.row, {**shared, **row}) for row in rows)
        return self._cursor.execute(self._bind(parts.head, shared) + tuples + self._bind(parts.tail, shared))

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What is written inside is undone when a ``Problem`` leaves the block.

        Row locks stay, if the transaction had touched a table before; else MySQL undoes it wholly, locks included.
        Other exceptions pass through: they end the whole transaction (after a deadlock there is no savepoint).
        """
        self._savepoints += 1
        name = f"savepoint_{self._savepoints}"
        self._cursor.execute(f"SAVEPOINT {name}")
        try:
            yield
        except Problem:
            self._cursor.execute(f"ROLLBACK TO SAVEPOINT {name}")
            raise

    def _run(self, text: str, parameters: Mapping[str, Any]) -> int:
        return self._cursor.execute(self._bind(text, parameters))

    def _bind(self, text: str, parameters: Mapping[str, Any]) -> str:
        for name, value in parameters.items():
            if isinstance(value, (list, tuple, set, frozenset)) and not value:
                raise ValueError(f"{name} is empty: an empty list cannot be asked for in SQL")
        return self._cursor.mogrify(text, dict(parameters))


class Database:
    """The process's pool of connections. ``retries`` counts retried transactions by MySQL's error number."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self.settings = settings
        self.retries: Counter[int] = Counter()
        self._connector = Connector(settings)
        self._engine: Engine | None = None
        self._guard = threading.Lock()

    @property
    def engine(self) -> Engine:
        """The pool, made at first use: a connection must never be shared across a fork.

        Every transaction here ends by itself, so the pool need not roll back once more.
        """
        with self._guard:
            if self._engine is None:
                self._engine = create_engine(
                    "mysql+pymysql://",
                    # The pool's dialect asks the server for its version by an ordinary cursor.
                    creator=lambda: self._connector.connect(cursorclass=Cursor),
                    pool_size=self.settings.pool_size,
                    max_overflow=0,
                    pool_timeout=_POOL_WAIT_SECONDS,
                    pool_pre_ping=True,
                    pool_recycle=1800,
                    pool_reset_on_return=None,
                )
            return self._engine

    def dispose(self) -> None:
        """Close the pool's connections; a later transaction opens new ones."""
        with self._guard:
            if self._engine is not None:
                self._engine.dispose()

    def transaction(self, work: Callable[[Transaction], T], *, first: Callable[[Transaction], None] | None = None) -> T:
        """Run ``work`` in one transaction and commit it; after a deadlock or lock wait run all of it again.

        ``first`` runs before ``work`` in the same transaction; when ``work`` then raises a ``Problem``, what
        ``first`` wrote is committed all the same and only ``work`` is undone. Any other exception undoes both.
        At most 4 repeats. Raises ``DatabaseUnavailable`` when the database is away, gave up on the locks, or
        failed the commit: that is never repeated here, since the commit may have happened.
        """
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                return self._attempt(work, first)
            except pymysql.MySQLError as error:
                if _number(error) not in _RETRIED:
                    raise
                self._count_retry(_number(error), attempt)
            if attempt < MAX_ATTEMPTS:
                sleep(_jitter.uniform(0, _BACKOFF_SECONDS * 2**attempt))
        raise _unavailable("other transactions hold the same rows")

    def _attempt(self, work: Callable[[Transaction], T], first: Callable[[Transaction], None] | None) -> T:
        connection = self._checkout()
        try:
            tx = Transaction(cast(DictCursor, connection.cursor(DictCursor)))
            if first is None:
                result = work(tx)
            else:
                first(tx)
                result = _refusable(tx, work, connection)
            _commit(connection)
        except BaseException as error:
            _abandon(connection, error)
            if isinstance(error, pymysql.MySQLError) and _is_unavailable(error):
                raise _unavailable("the connection to it was lost") from error
            raise
        connection.close()
        return result

    def _checkout(self) -> PoolProxiedConnection:
        try:
            return self.engine.raw_connection()
        except (pymysql.MySQLError, SQLAlchemyError) as error:
            _log.warning("database_unreachable", error=type(error).__name__, number=_number(error))
            raise _unavailable("no connection to it could be had") from error

    def _count_retry(self, number: int, attempt: int) -> None:
        with self._guard:
            self.retries[number] += 1
        _log.info("transaction_retried", number=number, attempt=attempt)


def _refusable(tx: Transaction, work: Callable[[Transaction], T], connection: PoolProxiedConnection) -> T:
    try:
        with tx.savepoint():
            return work(tx)
    except Problem:
        _commit(connection)
        raise


def _commit(connection: PoolProxiedConnection) -> None:
    try:
        connection.commit()
    except pymysql.MySQLError as error:
        connection.invalidate()
        _log.error("commit_failed", number=_number(error))
        raise _unavailable("it did not confirm the commit, which may or may not have happened") from error


def _abandon(connection: PoolProxiedConnection, error: BaseException) -> None:
    """Roll back; a connection whose state is not known is closed, not given back to the pool."""
    if isinstance(error, pymysql.MySQLError) and _is_unavailable(error):
        connection.invalidate()
        return
    try:
        if connection.is_valid:
            connection.rollback()
    except pymysql.MySQLError:
        connection.invalidate()
    finally:
        connection.close()


def _is_unavailable(error: pymysql.MySQLError) -> bool:
    return isinstance(error, pymysql.InterfaceError) or _number(error) in _UNAVAILABLE


def _number(error: BaseException) -> int:
    number = error.args[0] if error.args else 0
    return number if isinstance(number, int) else 0


def _unavailable(why: str) -> DatabaseUnavailable:
    return DatabaseUnavailable(
        f"The database could not serve the request: {why}. Try again, signed anew.",
        retry_after_seconds=UNAVAILABLE_RETRY_AFTER_SECONDS,
    )
