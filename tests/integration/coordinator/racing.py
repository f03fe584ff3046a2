"""Servers that race: what one of them does, over and over, in a thread or a process of its own."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from dataclasses import dataclass

from coordinator import recovery
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from coordinator.grants import Grant
from coordinator.ownership import Owner
from shared.policy import Policy
from shared.problems import Conflict, StaleTaskOwner
from tests.integration.coordinator.acting import Acting, batch, listing, owner_of


@dataclass(frozen=True)
class Racer:
    """A server's boot and how it plays: ``salt`` makes its choices its own and repeatable."""

    server_id: str
    boot_id: uuid.UUID
    rounds: int
    salt: int
    policy: Policy


def race(racer: Racer, database: Database) -> Counter[str]:
    """Acquire, crawl a little and end it somehow, ``rounds`` times; counts what happened.

    Before each acquire expired tasks are swept, as the API does. Losing a task is part of the race; any error that is
    no conflict ends it.
    """
    acting, seen = Acting(database, racer.policy), Counter[str]()
    chance = random.Random(racer.salt)  # noqa: S311 - chance of a game, no secret
    for acquire_seq in range(1, racer.rounds + 1):
        seen["recovered"] += recovery.sweep(database, racer.policy).recovered
        grant = acting.acquire(racer.server_id, racer.boot_id, acquire_seq)
        seen["acquired" if grant else "nothing"] += 1
        if grant is not None:
            seen[_crawl(acting, grant, owner_of(grant, racer.server_id, racer.boot_id), chance)] += 1
    return seen


def race_in_process(racer: Racer, settings: DatabaseSettings) -> Counter[str]:
    """The same with a pool of this process's own; also counts transactions that were repeated after a deadlock."""
    database = Database(settings)
    try:
        return race(racer, database) + Counter({"retries": database.retries.total()})
    finally:
        database.dispose()


def acquire_once(racer: Racer, settings: DatabaseSettings, acquire_seq: int = 1) -> int | None:
    """One acquire in a process of its own; the task's number, or None."""
    database = Database(settings)
    try:
        grant = Acting(database, racer.policy).acquire(racer.server_id, racer.boot_id, acquire_seq)
        return None if grant is None else grant.task_id
    finally:
        database.dispose()


def _crawl(acting: Acting, grant: Grant, owner: Owner, chance: random.Random) -> str:
    """Flush some pages and end the acquisition; returns how it ended."""
    page, processed, last = grant.checkpoint.current_page, grant.checkpoint.processed_count, grant.last_batch_no
    try:
        for _ in range(chance.randint(0, 3)):
            page, processed, last = page + 1, processed + 5, last + 1
            refs = sorted(chance.sample(range(40), 5), reverse=chance.random() < 0.5)
            sent = batch([listing(f"ref-{ref}", str(chance.random())) for ref in refs], page=page, processed=processed)
            acting.flush(owner, last, sent)
            acting.heartbeat(owner, page, processed)
        return _end(acting, owner, last, processed, chance)
    except StaleTaskOwner:
        return "lost"
    except Conflict as conflict:
        return conflict.code


def _end(acting: Acting, owner: Owner, last: int, processed: int, chance: random.Random) -> str:
    drawn = chance.random()
    if drawn < 0.5:
        return acting.complete(owner, last, processed).state
    if drawn < 0.7:
        return f"released {acting.release(owner).state}"
    if drawn < 0.9:
        return f"failed {acting.fail(owner, chance.choice(['odd', 'cursor_expired']), draw=0.0).state}"
    return "kept"
