"""What was acknowledged is there, and took effect once: batches (I8), completions (I9), signatures (I10)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

import pymysql
from pymysql.cursors import DictCursor

from tests.invariants.exchange import Exchange

Connection: TypeAlias = "pymysql.Connection[DictCursor]"

_BATCH = re.compile(r"/tasks/(\d+)/batches/(\d+)")
_COMPLETE = re.compile(r"/tasks/(\d+)/complete")


def check(history: Iterable[Exchange], connection: Connection) -> list[str]:
    """Sentences for whatever was acknowledged and is not there, or took effect twice."""
    exchanges = list(history)
    return [
        *_batches(exchanges, Stored(connection)),
        *_twice(exchanges),
        *_completions(exchanges, Stored(connection)),
        *_signatures(exchanges),
    ]


class Stored:
    """What the database says of tasks; those past their retention are gone, and nothing is said of them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        tasks = self._rows("SELECT task_id, account_id, state FROM crawl_tasks")
        self.states = {row["task_id"]: row["state"] for row in tasks}
        self.accounts = {row["task_id"]: row["account_id"] for row in tasks}

    def digests(self) -> dict[tuple[int, int], str]:
        """The ledger."""
        rows = self._rows("SELECT task_id, batch_no, HEX(body_digest) AS digest FROM task_batches")
        return {(row["task_id"], row["batch_no"]): row["digest"].lower() for row in rows}

    def listings(self) -> set[tuple[int, str]]:
        """Which listings there are."""
        rows = self._rows("SELECT account_id, listing_ref FROM listings")
        return {(row["account_id"], row["listing_ref"]) for row in rows}

    def _rows(self, query: str) -> list[dict[str, Any]]:
        with self._connection.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())


def _batches(exchanges: Iterable[Exchange], stored: Stored) -> Iterator[str]:
    digests, listings = stored.digests(), stored.listings()
    for each in exchanges:
        found = _BATCH.fullmatch(each.path)
        if not found or not each.succeeded or int(found[1]) not in stored.states:
            continue
        batch = (int(found[1]), int(found[2]))
        if digests.get(batch) != each.digest:
            yield f"I8: batch {batch[1]} of task {batch[0]} was acknowledged, and the ledger says {digests.get(batch)}"
        account = stored.accounts[batch[0]]
        missing = [ref for ref in each.said.get("listings", ()) if (account, ref) not in listings]
        if missing:
            yield f"I8: batch {batch[1]} of task {batch[0]} was acknowledged, its listings {missing[:5]} are not there"


def _twice(exchanges: Iterable[Exchange]) -> Iterator[str]:
    applied: dict[str, int] = defaultdict(int)
    for each in exchanges:
        if each.side == "coordinator" and each.status == 201 and _BATCH.fullmatch(each.path):
            applied[each.path] += 1
    yield from (f"I8: {path} was applied {times} times" for path, times in applied.items() if times > 1)


def _completions(exchanges: Iterable[Exchange], stored: Stored) -> Iterator[str]:
    answers: dict[int, set[str]] = defaultdict(set)
    for each in exchanges:
        found = _COMPLETE.fullmatch(each.path)
        if found and each.succeeded:
            answers[int(found[1])].add(each.answer["state"])
    for task_id, states in answers.items():
        if len(states) > 1:
            yield f"I9: the completion of task {task_id} was answered by {sorted(states)}"
        (state, *_) = states
        if stored.states.get(task_id, state) != state:
            yield f"I9: the completion of task {task_id} was answered by {state}, now it is {stored.states[task_id]}"


def _signatures(exchanges: Iterable[Exchange]) -> Iterator[str]:
    taken: dict[str, int] = defaultdict(int)
    for each in exchanges:
        if each.side == "coordinator" and each.nonce and each.succeeded:
            taken[each.nonce] += 1
    yield from (f"I10: the nonce {nonce} was accepted {times} times" for nonce, times in taken.items() if times > 1)
