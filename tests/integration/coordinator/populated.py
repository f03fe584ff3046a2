"""A database with enough rows that the optimizer chooses its plans as it would in production.

Thirteen hundred accounts with a history of crawls, every hundredth with a catalogue of some size, and more servers
that have left than there are. Rows that statements are asked for in the tests exist: MySQL looks
constant rows up while it plans, and plans nothing more once one is missing.
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterable, Iterator

import pymysql
from pymysql.cursors import DictCursor

NOW = datetime.datetime(2030, 1, 1, 12, 0, 0)
EPOCH_SECONDS = 1_893_499_200  # NOW, as a signature's `created`

PARTNERS, MARKETPLACES, ACCOUNTS, SERVERS = 50, 24, 1_300, 12
CRAWLS = 3  # ended crawls of each account
RUNNING, DELAYED, HELD, QUEUED = 24, 60, 20, 600  # what waits and runs, in the order of accounts

Rows = tuple[str, str, Iterable[tuple[object, ...]]]
"""A table, the names of some of its columns, and their values."""


def boot(number: int) -> bytes:
    """The boot of server ``number``."""
    return uuid.UUID(int=number + 1).bytes


def ago(**duration: float) -> datetime.datetime:
    """An instant before ``NOW``."""
    return NOW - datetime.timedelta(**duration)


def marketplace_of(account: int) -> str:
    """The marketplace of an account."""
    return f"market-{account % MARKETPLACES}"


def active_task_of(account: int) -> int:
    """The number of an account's task that waits or runs; the ended ones have lower numbers."""
    return ACCOUNTS * CRAWLS + account


def _settings() -> Iterator[Rows]:
    yield "policy", "version digest body updated_at updated_by", [(1, "0" * 64, "{}", NOW, "operator-1")]
    yield "schema_state", "schema_version fingerprint catalogue applied_at", [(1, bytes(32), "{}", NOW)]
    yield "operators", "operator_name role created_at", ((f"operator-{n}", "viewer", NOW) for n in range(30))
    yield (
        "signing_keys",
        "key_id role owner encryption_version secret_nonce secret_sealed created_at",
        ((f"key-{n}", "server", f"server-{n % SERVERS}", 1, bytes(12), bytes(48), NOW) for n in range(200)),
    )
    yield (
        "nonces",
        "created key_id nonce",
        ((EPOCH_SECONDS - n // 10, f"key-{n % 40}", n.to_bytes(16)) for n in range(5_000)),
    )


def _fleet() -> Iterator[Rows]:
    servers = range(SERVERS)
    yield "marketplaces", "marketplace_code name", ((f"market-{n}", f"Market {n}") for n in range(MARKETPLACES))
    yield (
        "servers",
        "server_id boot_id machine_id hostname version registered_at last_heartbeat_at",
        ((f"server-{n}", boot(n), f"machine-{n}", f"host-{n}", "1", ago(days=1), ago(seconds=n)) for n in servers),
    )
    yield (
        "servers",
        "server_id boot_id machine_id hostname version registered_at last_heartbeat_at deregistered_at",
        ((f"retired-{n}", boot(n), f"m-{n}", f"h-{n}", "1", ago(days=9), ago(days=8), ago(days=8)) for n in range(60)),
    )
    yield (
        "server_marketplaces",
        "server_id marketplace_code cursor_format",
        ((f"server-{n}", f"market-{m}", "rest/1") for n in servers for m in range(MARKETPLACES)),
    )
    yield (
        "server_samples",
        "server_id sampled_at boot_id cpu_percent rss_bytes running_tasks",
        ((f"server-{n}", ago(minutes=minute), boot(n), 1, 1, 1) for n in servers for minute in range(200)),
    )
    yield (
        "leadership_terms",
        "fencing_token server_id boot_id elected_at ended_at end_reason",
        (
            (n, f"server-{n % SERVERS}", boot(n % SERVERS), ago(hours=301 - n), ago(hours=300 - n), "resigned")
            for n in range(1, 301)
        ),
    )
    yield (
        "plans",
        "plan_id fencing_token body_digest created_count skipped_count planned_at",
        ((uuid.UUID(int=n).bytes, n % 300 + 1, bytes(32), 1, 0, ago(minutes=n)) for n in range(600)),
    )


def _accounts() -> Iterator[Rows]:
    accounts = range(1, ACCOUNTS + 1)
    yield (
        "partners",
        "partner_id partner_code name created_at",
        ((n, f"partner-{n}", f"Partner {n}", NOW) for n in range(1, PARTNERS + 1)),
    )
    yield (
        "accounts",
        "account_id partner_id marketplace_code account_ref settings size next_due_at crawl_no created_at",
        (
            (n, n % PARTNERS + 1, marketplace_of(n), f"seller-{n}", "{}", 20 + n, ago(hours=12 - n / 55), CRAWLS, NOW)
            for n in accounts
        ),
    )
    yield (
        "account_credentials",
        "account_id version encryption_version secret_nonce secret_sealed updated_at",
        ((n, 1, 1, bytes(12), bytes(64), NOW) for n in accounts),
    )
    yield (
        "listings",
        "account_id listing_ref marketplace_code title status attributes content_hash first_seen_at changed_at"
        " last_seen_crawl_no task_id fencing_token batch_no",
        (
            (n, f"listing-{i}", marketplace_of(n), "x", "active", "{}", bytes(33), NOW, NOW, CRAWLS, n, 1, 1)
            for n in accounts
            for i in range(1 if n % 100 else 2_000)
        ),
    )


def _tasks() -> Iterator[Rows]:
    common = "task_id account_id marketplace_code crawl_no size_class size due_at dispatch_key created_at state"
    yield (
        "crawl_tasks",
        f"{common} server_id boot_id fencing_token ended_at completion_digest",
        (
            (
                *(crawl * ACCOUNTS + n, *_planned(n, crawl + 1), "completed"),
                *(f"server-{n % SERVERS}", boot(n % SERVERS), 1, ago(days=CRAWLS - crawl, seconds=n), bytes(32)),
            )
            for crawl in range(CRAWLS)
            for n in range(1, ACCOUNTS + 1)
        ),
    )
    waiting = ["queued"] * RUNNING + ["delayed"] * DELAYED + ["held"] * HELD + ["queued"] * QUEUED
    yield (
        "crawl_tasks",
        f"{common} eligible_at",
        (
            (active_task_of(n), *_planned(n, CRAWLS + 1), state, ago(seconds=n - 60) if state == "delayed" else None)
            for n, state in enumerate(waiting, start=1)
        ),
    )


def _planned(account: int, crawl_no: int) -> tuple[object, ...]:
    size_class = ("small", "large", "probe")[account % 3]
    instant = ago(seconds=account)
    return account, marketplace_of(account), crawl_no, size_class, 20 + account, instant, instant, instant


def _traces() -> Iterator[Rows]:
    ended = range(1, ACCOUNTS * CRAWLS + 1)
    running = range(active_task_of(1), active_task_of(RUNNING) + 1)
    yield (
        "task_claims",
        "task_id fencing_token server_id boot_id marketplace_code size_class active_servers quota running_count"
        " large_cap large_count claimed_at",
        ((task, 1, "server-1", boot(1), "market-1", "small", 12, 12, 1, 1, 0, ago(days=2)) for task in ended),
    )
    yield (
        "task_batches",
        "task_id batch_no epoch fencing_token body_digest answer applied_at",
        ((task, n, 1, 1, bytes(32), "{}", ago(days=2)) for task in [*ended, *running] for n in (1, 2)),
    )
    yield (
        "listing_rejects",
        "account_id task_id batch_no reason detail recorded_at",
        ((n, n, 1, "no_title", "x", ago(minutes=n)) for n in range(1, 1_001)),
    )
    yield (
        "listing_changes",
        "feed_position account_id listing_ref kind recorded_at",
        (
            (n if n < 4_000 else None, n % ACCOUNTS + 1, "listing-1", "changed", ago(minutes=5_000 - n))
            for n in range(1, 5_001)
        ),
    )
    yield (
        "task_events",
        "task_id kind detail recorded_at",
        ((n % 4_000 + 1 if n % 50 else None, "acquired", "{}", ago(minutes=5_000 - n)) for n in range(5_000)),
    )
    yield (
        "audit_log",
        "actor action subject detail recorded_at",
        (("operator-1", "policy.set", "policy", "{}", ago(hours=1_000 - n)) for n in range(1_000)),
    )


def populate(connection: pymysql.Connection[DictCursor]) -> None:
    """Fill the empty database that ``connection`` is on, seat the running tasks, and tell the optimizer."""
    tables = {"leadership", "server_slots"}
    with connection.cursor() as cursor:
        for part in (_settings, _fleet, _accounts, _tasks, _traces):
            for table, names, rows in part():
                columns = names.split()
                marks = ", ".join(["%s"] * len(columns))
                cursor.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", list(rows))
                tables.add(table)
        for server in range(SERVERS):
            _seat(cursor, server)
        cursor.execute(
            "UPDATE leadership SET fencing_token = 300, leader_server_id = 'server-0', leader_boot_id = %s,"
            " renewed_at = %s, lease_expires_at = %s",
            (boot(0), NOW, ago(seconds=-15)),
        )
        cursor.execute("UPDATE leadership_terms SET ended_at = NULL, end_reason = NULL WHERE fencing_token = 300")
        connection.commit()
        cursor.execute(f"ANALYZE TABLE {', '.join(sorted(tables))}")
        cursor.fetchall()


def _seat(cursor: DictCursor, server: int) -> None:
    """Give a server three slots, and put running tasks into two of them."""
    server_id, boot_id = f"server-{server}", boot(server)
    cursor.execute("INSERT INTO server_slots (server_id, slot_no) VALUES (%s, 3)", (server_id,))
    for slot_no in (1, 2):
        account = server * 2 + slot_no
        task_id = active_task_of(account)
        cursor.execute(
            "INSERT INTO server_slots (server_id, slot_no, task_id, marketplace_code, size_class)"
            " VALUES (%s, %s, %s, %s, 'small')",
            (server_id, slot_no, task_id, marketplace_of(account)),
        )
        cursor.execute(
            "UPDATE crawl_tasks SET state = 'running', server_id = %s, boot_id = %s, fencing_token = 1,"
            " acquired_at = %s, progress_at = %s, lease_expires_at = %s, last_batch_no = 2 WHERE task_id = %s",
            (server_id, boot_id, NOW, NOW, ago(seconds=account - 60), task_id),
        )
