"""Rows that a test starts from, written by plain SQL and so independent of the code under test."""

from __future__ import annotations

import datetime
import math
import uuid
from collections.abc import Iterable
from typing import Any

import pymysql
from pymysql.cursors import DictCursor

from tests.integration.clock import Clock

Row = dict[str, Any]

CURSOR_FORMAT = "rest/1"


class Seed:
    """Builds partners, marketplaces, accounts, servers and tasks, and reads tables back.

    ``now`` is the session's (moved) clock. Every ``**columns`` overrides or adds columns of the row that is written.
    """

    def __init__(self, connection: pymysql.Connection[DictCursor], clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    # -- plain rows ------------------------------------------------------------------------------------------------

    def execute(self, statement: str, *values: object) -> int:
        """Run one statement with ``%s`` parameters; returns the number of matched rows."""
        self._clock.apply(self._connection)
        with self._connection.cursor() as cursor:
            return cursor.execute(statement, values)

    def rows(self, query: str, *values: object) -> list[Row]:
        """All rows of one SELECT with ``%s`` parameters."""
        self._clock.apply(self._connection)
        with self._connection.cursor() as cursor:
            cursor.execute(query, values)
            return list(cursor.fetchall())

    def row(self, table: str, **where: object) -> Row:
        """The single row of ``table`` with these column values; fails when there are none or several."""
        found = self._matching(table, where)
        if len(found) != 1:
            raise AssertionError(f"{len(found)} rows of {table} where {where}, not 1: {found[:3]}")
        return found[0]

    def count(self, table: str, **where: object) -> int:
        """How many rows of ``table`` have these column values."""
        return len(self._matching(table, where))

    def insert(self, table: str, **columns: object) -> int:
        """Insert one row; returns its auto-increment number, or 0."""
        marks = ", ".join(["%s"] * len(columns))
        with self._connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})",
                tuple(_plain(value) for value in columns.values()),
            )
            return int(cursor.lastrowid or 0)

    def update(self, table: str, where: Row, **columns: object) -> None:
        """Change columns of the rows that ``where`` matches; fails when it matches none."""
        changes = ", ".join(f"{name} = %s" for name in columns)
        condition, values = _condition(where)
        matched = self.execute(
            f"UPDATE {table} SET {changes} WHERE {condition}",
            *(_plain(value) for value in columns.values()),
            *values,
        )
        if matched == 0:
            raise AssertionError(f"no row of {table} where {where}")

    def now(self) -> datetime.datetime:
        """The database's clock, as this test's connections see it."""
        instant: datetime.datetime = self.rows("SELECT UTC_TIMESTAMP(6) AS now")[0]["now"]
        return instant

    def _matching(self, table: str, where: Row) -> list[Row]:
        condition, values = _condition(where)
        return self.rows(f"SELECT * FROM {table} WHERE {condition}", *values)

    # -- nouns -----------------------------------------------------------------------------------------------------

    def partner(self, partner_code: str = "acme") -> int:
        """A partner, made at first mention; returns its ``partner_id``."""
        for row in self._matching("partners", {"partner_code": partner_code}):
            return int(row["partner_id"])
        return self.insert("partners", partner_code=partner_code, name=partner_code, created_at=self.now())

    def marketplace(
        self, marketplace_code: str, quota_per_server: float = 1, yields: bool = True, **columns: object
    ) -> str:
        """A marketplace; returns its code."""
        self.insert(
            "marketplaces",
            **{
                "marketplace_code": marketplace_code,
                "name": marketplace_code,
                "quota_per_server": quota_per_server,
                "yields": yields,
                **columns,
            },
        )
        return marketplace_code

    def account(
        self, marketplace_code: str, partner_code: str = "acme", size: int | None = None, **columns: object
    ) -> int:
        """An account that is due now, its marketplace made at first mention; returns its ``account_id``."""
        if not self.count("marketplaces", marketplace_code=marketplace_code):
            self.marketplace(marketplace_code)
        now = self.now()
        return self.insert(
            "accounts",
            **{
                "partner_id": self.partner(partner_code),
                "marketplace_code": marketplace_code,
                "account_ref": uuid.uuid4().hex,
                "settings": "{}",
                "size": size,
                "next_due_at": now,
                "created_at": now,
                **columns,
            },
        )

    def server(
        self,
        server_id: str,
        boot_id: uuid.UUID | None = None,
        marketplaces: Iterable[str] | None = None,
        slots: int = 3,
        **columns: object,
    ) -> uuid.UUID:
        """A server that has just registered; returns its current boot.

        It can crawl ``marketplaces``, made at first mention; by default all that there are so far.
        """
        boot = boot_id or uuid.uuid4()
        now = self.now()
        self.insert(
            "servers",
            **{
                "server_id": server_id,
                "boot_id": boot,
                "machine_id": f"machine-of-{server_id}",
                "hostname": f"{server_id}.test",
                "version": "0.1.0",
                "registered_at": now,
                "last_heartbeat_at": now,
                **columns,
            },
        )
        known = [str(row["marketplace_code"]) for row in self._matching("marketplaces", {})]
        for code in known if marketplaces is None else marketplaces:
            if code not in known:
                self.marketplace(code)
            self.insert("server_marketplaces", server_id=server_id, marketplace_code=code, cursor_format=CURSOR_FORMAT)
        for slot_no in range(1, slots + 1):
            self.insert("server_slots", server_id=server_id, slot_no=slot_no)
        return boot

    def leader(self, server_id: str, fencing_token: int = 1, lease_seconds: float = 15, **columns: object) -> int:
        """Make a seeded server's current boot the leader, elected and renewed now; returns its token."""
        boot, now = self.row("servers", server_id=server_id)["boot_id"], self.now()
        self.update(
            "leadership",
            {"leadership_id": 1},
            **{
                "fencing_token": fencing_token,
                "leader_server_id": server_id,
                "leader_boot_id": boot,
                "renewed_at": now,
                "lease_expires_at": now + datetime.timedelta(seconds=lease_seconds),
                **columns,
            },
        )
        self.insert("leadership_terms", fencing_token=fencing_token, server_id=server_id, boot_id=boot, elected_at=now)
        return fencing_token

    def task(
        self,
        account_id: int,
        state: str = "queued",
        server_id: str | None = None,
        lease_seconds: float = 60,
        **columns: object,
    ) -> int:
        """A crawl task in any state; returns its ``task_id``.

        A running one needs ``server_id``: it gets that server's current boot, fencing token 1, a lease from now and
        the server's first free slot. An ended one ended now; a delayed one wakes in ``lease_seconds``.
        """
        account, now = self.row("accounts", account_id=account_id), self.now()
        row: Row = {
            "account_id": account_id,
            "marketplace_code": account["marketplace_code"],
            "crawl_no": account["crawl_no"] + 1,
            "state": "queued" if state == "running" else state,
            "size_class": "probe" if account["size"] is None else "small",
            "size": account["size"],
            "due_at": now,
            "dispatch_key": now,
            "created_at": now,
        }
        if state == "delayed":
            row["eligible_at"] = now + datetime.timedelta(seconds=lease_seconds)
        if state in {"completed", "failed", "cancelled"}:
            row["ended_at"] = now
        if state == "completed":
            row["completion_digest"] = bytes(32)
        if state != "running":
            return self.insert("crawl_tasks", **(row | {"server_id": server_id} | columns))
        if server_id is None:
            raise AssertionError("a running task needs a server: seed.task(..., state='running', server_id=...)")
        waiting: Row = {name: columns[name] for name in ("size", "size_class", "marketplace_code") if name in columns}
        task_id = self.insert("crawl_tasks", **(row | waiting))
        return self._seat(task_id, server_id, now, lease_seconds, columns)

    def _seat(self, task_id: int, server_id: str, now: datetime.datetime, lease_seconds: float, columns: Row) -> int:
        task, server = self.row("crawl_tasks", task_id=task_id), self.row("servers", server_id=server_id)
        seated = self.execute(
            "UPDATE server_slots SET task_id = %s, marketplace_code = %s, size_class = %s"
            " WHERE server_id = %s AND task_id IS NULL ORDER BY slot_no LIMIT 1",
            task_id,
            task["marketplace_code"],
            task["size_class"],
            server_id,
        )
        if not seated:
            raise AssertionError(f"server {server_id} has no free slot")
        self.update(
            "crawl_tasks",
            {"task_id": task_id},
            **{
                "state": "running",
                "server_id": server_id,
                "boot_id": server["boot_id"],
                "fencing_token": 1,
                "acquired_at": now,
                "progress_at": now,
                "lease_expires_at": now + datetime.timedelta(seconds=lease_seconds),
                **columns,
            },
        )
        self._claim(task_id)
        return task_id

    def _claim(self, task_id: int) -> None:
        """What the acquisition would have noted, had it seen the servers that there are and no more running tasks."""
        task = self.row("crawl_tasks", task_id=task_id)
        marketplace = self.row("marketplaces", marketplace_code=task["marketplace_code"])
        servers = self.count("servers")
        quota = max(1, math.ceil(marketplace["quota_per_server"] * servers))
        self.insert(
            "task_claims",
            **{name: task[name] for name in ("task_id", "fencing_token", "server_id", "boot_id", "marketplace_code")},
            size_class=task["size_class"],
            active_servers=servers,
            quota=quota,
            running_count=1,
            large_cap=max(1, quota - max(1, math.ceil(quota / 5))),
            large_count=int(task["size_class"] == "large"),
            claimed_at=task["acquired_at"],
        )


def _plain(value: object) -> object:
    return value.bytes if isinstance(value, uuid.UUID) else value


def _condition(where: Row) -> tuple[str, list[object]]:
    """``a <=> %s AND …`` (NULL equals NULL), and its values."""
    condition = " AND ".join(f"{name} <=> %s" for name in where) or "TRUE"
    return condition, [_plain(value) for value in where.values()]
