"""A private MySQL server: its own data, no network, a socket that only this user reaches, nothing relaxed."""

import os
import socket
import subprocess
import time
from pathlib import Path

import pymysql
from pymysql.cursors import DictCursor

from coordinator.connections import Connector, DatabaseSettings
from deploy.cluster.interruption import Pause
from deploy.cluster.places import CHECKOUT
from deploy.cluster.processes import Child, ProcessFailed, Program, run, start

INITIALISE_SECONDS = 180.0
START_SECONDS = 120.0
QUERY_SECONDS = 600
_FIND_MYSQL = CHECKOUT / "deploy" / "find-mysql"
_SOCKET = "socket"

OPTIONS = (
    f"--socket={_SOCKET}",  # below the data's folder, so that no path is too long for a socket
    f"--pid-file={_SOCKET}.pid",
    "--skip-networking",
    "--mysqlx=OFF",
    "--secure-file-priv=NULL",
    "--default-time-zone=+00:00",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_0900_bin",
    "--transaction-isolation=READ-COMMITTED",
    "--innodb-lock-wait-timeout=5",
    "--innodb-buffer-pool-size=256M",
    "--performance-schema=OFF",
)
"""Every commit is on disk before it is answered, and in the binary log: the server's own defaults, left alone."""


def find_programs() -> Path:
    """The folder of the MySQL programs that ``deploy/find-mysql`` chooses. Raises ``ProcessFailed``."""
    search = subprocess.run([_FIND_MYSQL], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    if search.returncode:
        raise ProcessFailed(f"{search.stderr}No suitable MySQL is installed: deploy/quickstart installs one.")
    return Path(search.stdout.strip())


class MySQLServer:
    """A server whose data live below ``folder``; ``programs`` is the folder that ``deploy/bootstrap`` names.

    Its root user has no password: the folder, which only this user may enter, is what guards it.
    """

    def __init__(self, programs: Path, folder: Path, logs: Path, notes: Path) -> None:
        self.programs = programs
        self._folder = folder
        self._logs = logs
        self._notes = notes

    @property
    def socket(self) -> str:
        """The socket's path as short as it gets from the current folder."""
        path = str(self._data / _SOCKET)
        return min(path, os.path.relpath(path), key=len)

    def start(self, pause: Pause = time.sleep) -> Child:
        """Make the data where there are none, start the server and wait for it. Raises ``ProcessFailed``."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._data.exists():
            initialise = Program("mysql-initialise", self._command("--initialize-insecure"), self._logs / "mysql.log")
            run([initialise], self._notes, INITIALISE_SECONDS, pause)
        server = Program("mysql", self._command(*OPTIONS), self._logs / "mysql.log")
        return start(server, self._notes, self._answers, START_SECONDS, pause)

    def connect(self, database: str = "") -> "pymysql.Connection[DictCursor]":
        """A connection as root, in no transaction. Raises ``pymysql.MySQLError``."""
        return Connector(self.settings("root", "", database)).connect(read_timeout=QUERY_SECONDS)

    def settings(self, user: str, password: str, database: str) -> DatabaseSettings:
        """How to reach a database of this server."""
        return DatabaseSettings(user=user, password=password, name=database, unix_socket=self.socket)

    def version(self) -> str:
        """The server's version."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute("SELECT VERSION() AS version")
            return str((cursor.fetchone() or {})["version"])

    def create_database(self, name: str, user: str, password: str) -> None:
        """Create an empty database, and a user that may read and write its rows but change no structure."""
        with self.connect() as connection, connection.cursor() as cursor:
            cursor.execute(f"CREATE DATABASE `{name}`")
            cursor.execute("CREATE USER %s@'localhost' IDENTIFIED BY %s", (user, password))
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON `{name}`.* TO %s@'localhost'", (user,))

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _command(self, *options: str) -> list[str]:
        root = ["--user=root"] if os.geteuid() == 0 else []
        return [str(self.programs / "mysqld"), "--no-defaults", f"--datadir={self._data}", *root, *options]

    def _answers(self) -> bool:
        # PyMySQL leaves its own socket open when nobody listens: ask only somebody.
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(self.socket):
                return False
        try:
            with self.connect():
                return True
        except pymysql.MySQLError:
            return False
