"""The schema's life: created from ``schema.sql``, moved on by numbered migrations, compared with what it should be.

MySQL commits every DDL statement by itself. A migration is therefore a single statement: it happened or it did not.
"""

import re
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import msgspec
import pymysql
from pymysql.constants import CLIENT, ER

from coordinator import migrations, structure
from coordinator.connections import Connector
from coordinator.database import Transaction
from coordinator.migrations import Migration
from coordinator.structure import Structure

OLDEST_SUPPORTED_VERSION = 2
NEWEST_SUPPORTED_VERSION = 2

_LOCK_WAIT_SECONDS = 30
_STATEMENT_SECONDS = 3600
_IDENTIFIER = re.compile(r"[A-Za-z0-9_]{1,48}")
# What a migration meets that was applied just before a crash kept its version from being recorded.
_ALREADY_APPLIED = frozenset(
    {ER.TABLE_EXISTS_ERROR, ER.DUP_FIELDNAME, ER.DUP_KEYNAME, ER.CANT_DROP_FIELD_OR_KEY, 1826, 3822, 3821}
)


class SchemaError(Exception):
    """A database that cannot be created, moved on or used as it is; says what to do."""


@dataclass(frozen=True)
class Applied:
    """What an apply did: whether it created the schema, and which migrations it ran."""

    version: int
    created: bool
    migrations: tuple[str, ...]


@dataclass(frozen=True)
class State:
    """A database's recorded version (None before an apply), and how it drifted from the recorded structure."""

    version: int | None
    drift: tuple[str, ...]

    def problems(self) -> list[str]:
        """Why this coordinator cannot run on that database; an empty list means that it can."""
        if self.version is None:
            return ["the database has no schema: run coordinator schema apply"]
        if not OLDEST_SUPPORTED_VERSION <= self.version <= NEWEST_SUPPORTED_VERSION:
            window = f"{OLDEST_SUPPORTED_VERSION} to {NEWEST_SUPPORTED_VERSION}"
            remedy = "run coordinator schema apply" if self.version < OLDEST_SUPPORTED_VERSION else "run a newer one"
            return [f"the schema has version {self.version}, and this coordinator runs on {window}: {remedy}"]
        return [f"the schema drifted: {line}" for line in self.drift]


def script() -> str:
    """The text of ``schema.sql``: beside the package when installed, above it in a checkout."""
    packaged = files("coordinator").joinpath("schema.sql")
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).parent.parent / "schema.sql").read_text(encoding="utf-8")


def read_state(tx: Transaction, database: str) -> State:
    """The recorded version, and the drift from the recorded structure; needs no rights but to read.

    Raises ``pymysql.MySQLError``; a database without our tables reads as one without a version.
    """
    try:
        row = tx.one("schema_read_state")
    except pymysql.err.ProgrammingError as error:
        if error.args[0] != ER.NO_SUCH_TABLE:
            raise
        row = None
    if row is None:
        return State(None, ())
    found = structure.describe(tx, database)
    if structure.fingerprint(found) == row["fingerprint"]:
        return State(row["schema_version"], ())
    recorded = msgspec.json.decode(row["catalogue"])
    return State(row["schema_version"], tuple(structure.drift(recorded, found)))


class Session:
    """A connection for DDL: long timeouts, whole scripts, named statements besides."""

    def __init__(self, connector: Connector) -> None:
        self._connection = connector.connect(
            database="",
            client_flag=CLIENT.FOUND_ROWS | CLIENT.MULTI_STATEMENTS,
            autocommit=True,
            read_timeout=_STATEMENT_SECONDS,
            write_timeout=_STATEMENT_SECONDS,
        )
        self._cursor = self._connection.cursor()
        self.tx = Transaction(self._cursor)

    def run(self, text: str) -> None:
        """Execute the statements in ``text`` and read every result, so that no error is lost."""
        self._cursor.execute(text)
        while self._cursor.nextset():
            pass

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    @contextmanager
    def locked(self, database: str) -> Iterator[None]:
        """Only one apply at a time. Raises ``SchemaError`` when another takes too long."""
        name = f"coordinator.schema.{database}"
        self._cursor.execute("SELECT GET_LOCK(%s, %s) AS held", (name, _LOCK_WAIT_SECONDS))
        row = self._cursor.fetchone()
        if not row or row["held"] != 1:
            raise SchemaError("another schema apply is at work: wait for it")
        try:
            yield
        finally:
            self._cursor.execute("SELECT RELEASE_LOCK(%s)", (name,))

    @contextmanager
    def scratch(self, text: str) -> Iterator[Structure]:
        """The structure that the statements in ``text`` make, in a database of its own that is dropped again."""
        name = f"schema_scratch_{secrets.token_hex(8)}"
        self.run(f"CREATE DATABASE {name} COLLATE utf8mb4_0900_bin")
        try:
            self.run(f"USE {name};{text}")
            yield structure.describe(self.tx, name)
        finally:
            self.run(f"DROP DATABASE {name}")


def apply(connector: Connector, database: str) -> Applied:
    """Create the schema in an empty database, or run the migrations that it lacks; record what results.

    Creates the database itself where there is none. Two applies follow each other. Raises ``SchemaError``.
    """
    name = _quoted(database)
    with closing(Session(connector)) as session:
        session.run(f"CREATE DATABASE IF NOT EXISTS {name} COLLATE utf8mb4_0900_bin; USE {name}")
        with session.locked(database):
            state = read_state(session.tx, database)
            if state.version is None:
                return _create(session, database)
            return _migrate(session, database, state.version)


def verify(connector: Connector, database: str) -> list[str]:
    """How the live database differs from ``schema.sql`` loaded into a scratch database on the same server.

    Needs the right to create databases. An empty list means no difference.
    """
    with closing(Session(connector)) as session, session.scratch(script()) as expected:
        return structure.drift(expected, structure.describe(session.tx, database))


def _quoted(database: str) -> str:
    if not _IDENTIFIER.fullmatch(database):
        raise SchemaError(f"database_name: {database!r} must be 1 to 48 letters, digits or underscores")
    return f"`{database}`"


def _create(session: Session, database: str) -> Applied:
    if found := structure.describe(session.tx, database):
        raise SchemaError(
            f"the database {database} has tables ({len(found)} parts) but no recorded version: it is not ours, or its"
            f" creation was interrupted; in the latter case DROP DATABASE {database} and apply again"
        )
    session.run(script())
    record(session.tx, database, NEWEST_SUPPORTED_VERSION)
    return Applied(NEWEST_SUPPORTED_VERSION, created=True, migrations=())


def _migrate(session: Session, database: str, version: int) -> Applied:
    if version > NEWEST_SUPPORTED_VERSION:
        raise SchemaError(f"the schema has version {version}, newer than this coordinator knows: run a newer one")
    pending = [step for step in migrations.in_order() if step.version > version]
    for step in pending:
        _run_once(session, step)
        record(session.tx, database, step.version)
    return Applied(NEWEST_SUPPORTED_VERSION, created=False, migrations=tuple(step.name for step in pending))


def _run_once(session: Session, step: Migration) -> None:
    try:
        session.run(step.statement)
    except pymysql.MySQLError as error:
        if error.args[0] not in _ALREADY_APPLIED:
            raise SchemaError(f"migration {step.name} failed, and nothing of it was done: {error.args[1]}") from error


def record(tx: Transaction, database: str, version: int) -> None:
    """Note that the structure, as it is now, is what ``version`` looks like on this server."""
    found = structure.describe(tx, database)
    tx.execute(
        "schema_write_state",
        schema_version=version,
        fingerprint=structure.fingerprint(found),
        catalogue=msgspec.json.encode(found, order="sorted").decode(),
        now=tx.now(),
    )
