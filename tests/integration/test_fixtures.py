"""The fixtures themselves: a test that leans on a stopped clock or an empty table must be able to trust them."""

from __future__ import annotations

import datetime
from collections.abc import Callable

import pymysql
import pytest
from pymysql.cursors import DictCursor

from coordinator.database import Database
from tests.integration.clock import START, Clock
from tests.integration.mysql import Schema
from tests.integration.seed import Seed

Connect = Callable[..., "pymysql.Connection[DictCursor]"]


def test_the_clock_moves_every_pooled_connection(database: Database, clock: Clock, seed: Seed) -> None:
    assert database.transaction(lambda tx: tx.now()) == START
    clock.advance(seconds="14.999999")
    expected = START + datetime.timedelta(seconds=14, microseconds=999_999)
    assert database.transaction(lambda tx: tx.now()) == expected
    assert seed.now() == expected
    clock.advance(microseconds=1)
    assert database.transaction(lambda tx: database.transaction(lambda inner: (tx.now(), inner.now()))) == (
        START + datetime.timedelta(seconds=15),
        START + datetime.timedelta(seconds=15),
    )


def test_a_released_clock_is_the_real_one(database: Database, clock: Clock) -> None:
    clock.release()
    first = database.transaction(lambda tx: tx.now())
    assert first != START
    assert database.transaction(lambda tx: tx.now()) > first


def test_the_clock_runs_unless_it_is_asked_for(database: Database, session_clock: Clock) -> None:
    assert database.transaction(lambda tx: tx.now()) != START
    with pytest.raises(RuntimeError, match="this clock is the real one"):
        session_clock.advance(seconds=1)


def test_a_running_task_gets_its_slot_and_a_lease(seed: Seed, clock: Clock) -> None:
    account_id = seed.account("shopify", size=50)
    boot_id = seed.server("server-a")
    task_id = seed.task(account_id, "running", server_id="server-a", lease_seconds=60)
    task = seed.row("crawl_tasks", task_id=task_id)
    assert (task["boot_id"], task["running_server_id"]) == (boot_id.bytes, "server-a")
    assert task["lease_expires_at"] == clock.now + datetime.timedelta(seconds=60)
    assert seed.row("server_slots", task_id=task_id)["slot_no"] == 1


@pytest.mark.parametrize("state", ["queued", "delayed", "held", "completed", "failed", "cancelled"])
def test_a_task_can_be_seeded_in_any_state(seed: Seed, state: str) -> None:
    task_id = seed.task(seed.account("shopify"), state)
    assert seed.row("crawl_tasks", task_id=task_id)["state"] == state


def test_emptying_leaves_what_the_schema_inserts(schema: Schema, seed: Seed) -> None:
    seed.server("server-a")
    seed.leader("server-a", fencing_token=7)
    schema.empty()
    assert seed.count("servers") == seed.count("leadership_terms") == 0
    assert seed.row("leadership")["fencing_token"] == 0


def test_a_forgotten_transaction_fails_the_emptying(schema: Schema, seed: Seed, connect: Connect) -> None:
    seed.partner()
    forgotten = connect()
    with forgotten.cursor() as cursor:
        cursor.execute("SELECT * FROM partners FOR UPDATE")
    with pytest.raises(pymysql.err.OperationalError, match="Lock wait timeout"):
        schema.empty()
