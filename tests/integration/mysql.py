"""The session's MySQL server: how it is started, and how processes of one test run share it.

Two cores carry one server well and several badly. So the processes of a parallel run use the server that the first
of them started, each with a schema of its own.
"""

from __future__ import annotations

import fcntl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pymysql
import pytest
from pymysql.constants import CLIENT
from pymysql.cursors import DictCursor

CHECKOUT = Path(__file__).parents[2]
FIND_MYSQL = CHECKOUT / "deploy" / "find-mysql"
SCHEMA_FILE = CHECKOUT / "schema.sql"

PARAMETERS = (
    "--bind-address=127.0.0.1",
    "--mysqlx=OFF",
    "--default-time-zone=+00:00",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_0900_bin",
    "--transaction-isolation=READ-COMMITTED",
    "--innodb-lock-wait-timeout=5",
    "--lock-wait-timeout=10",  # the default is a year: a forgotten transaction must fail the next DDL, not hang it
    "--max-connections=300",
    "--innodb-buffer-pool-size=128M",
    # No test here crashes the machine: what a killed server keeps is for the fault tests to show.
    "--innodb-flush-log-at-trx-commit=2",
    "--disable-log-bin",
)


@cache
def programs() -> Path | None:
    """The folder of the MySQL programs that ``deploy/find-mysql`` chooses, or None when it finds none.

    Raises ``pytest.UsageError`` when ``MYSQL_BIN`` is set to something unsuitable.
    """
    search = subprocess.run([FIND_MYSQL], capture_output=True, text=True, check=False)
    if search.returncode == 2:
        raise pytest.UsageError(search.stderr.strip())
    return Path(search.stdout.strip()) if search.returncode == 0 else None


@dataclass(frozen=True)
class Server:
    """A running MySQL server, reached as root without a password."""

    unix_socket: str
    host: str
    port: int

    def connect(self, database: str | None = None, **options: object) -> pymysql.Connection[DictCursor]:
        """A raw connection (rows as dictionaries, no autocommit unless asked for); closed by the caller."""
        arguments: dict[str, Any] = {
            "unix_socket": self.unix_socket,
            "user": "root",
            "database": database,
            "charset": "utf8mb4",
            "collation": "utf8mb4_0900_bin",
            "client_flag": CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
            "ssl_disabled": True,
            "cursorclass": DictCursor,
        }
        made: pymysql.Connection[DictCursor] = pymysql.connect(**{**arguments, **options})
        return made


@contextmanager
def shared_by_run(folder: Path, start: Callable[[], Server]) -> Iterator[Server]:
    """Yield the run's one server; the process that finds none starts it by ``start``.

    ``folder`` is one that all processes of the run see. The starter leaves only when no other process uses the server
    any more, since the server stops with its starter. Users hold a shared lock, which the kernel lifts if they die.
    """
    address = folder / "mysql-server"
    with (folder / "mysql-start").open("w") as starting, (folder / "mysql-users").open("w") as using:
        fcntl.flock(starting, fcntl.LOCK_EX)
        mine = not address.exists()
        if mine:
            server = start()
            address.write_text(f"{server.unix_socket}\n{server.host}\n{server.port}\n")
        else:
            unix_socket, host, port = address.read_text().split()
            server = Server(unix_socket, host, int(port))
        fcntl.flock(using, fcntl.LOCK_SH)
        fcntl.flock(starting, fcntl.LOCK_UN)
        try:
            yield server
        finally:
            fcntl.flock(using, fcntl.LOCK_UN)
            if mine:
                # Whoever comes from now on waits, finds no address and starts a server of its own.
                fcntl.flock(starting, fcntl.LOCK_EX)
                fcntl.flock(using, fcntl.LOCK_EX)
                address.unlink()


def run_script(connection: pymysql.Connection[DictCursor], script: str) -> None:
    """Execute all statements of ``script`` at one go and read every result, so that no error is lost."""
    with connection.cursor() as cursor:
        cursor.execute(script)
        while cursor.nextset():
            pass


class Schema:
    """A database made from ``schema.sql`` once, and brought back to its first state between tests."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        with server.connect(autocommit=True) as connection:
            run_script(connection, f"DROP DATABASE IF EXISTS {name}; CREATE DATABASE {name}; USE {name}")
            run_script(connection, SCHEMA_FILE.read_text(encoding="utf-8"))
            self._tables = self._base_tables(connection)
            self._first_rows = {table: rows for table in self._tables if (rows := self._rows(connection, table))}

    def _base_tables(self, connection: pymysql.Connection[DictCursor]) -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT table_name AS name FROM information_schema.tables"
                " WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY table_name",
                (self.name,),
            )
            return [row["name"] for row in cursor.fetchall()]

    @staticmethod
    def _rows(connection: pymysql.Connection[DictCursor], table: str) -> list[dict[str, object]]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {table}")
            return list(cursor.fetchall())

    def empty(self) -> None:
        """Leave only the rows that ``schema.sql`` itself inserts. DELETE, since TRUNCATE makes a file per table.

        Raises ``pymysql.err.OperationalError`` 1205 when a test left a transaction open.
        """
        deletes = ";".join(f"DELETE FROM {table}" for table in self._tables)
        with self.server.connect(self.name, autocommit=True) as connection:
            run_script(connection, f"SET foreign_key_checks = 0, innodb_lock_wait_timeout = 2;{deletes}")
            for table, rows in self._first_rows.items():
                for row in rows:
                    marks = ", ".join(["%s"] * len(row))
                    with connection.cursor() as cursor:
                        cursor.execute(
                            f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})",
                            tuple(row.values()),
                        )

    def drop(self) -> None:
        """Remove the database."""
        with self.server.connect(autocommit=True) as connection:
            run_script(connection, f"DROP DATABASE {self.name}")
