"""Races for the same account, slot, marketplace and quota: threads of a server, servers, and processes.

Whoever wins, the invariants hold, and hardly a transaction has to be repeated.
"""

from __future__ import annotations

import multiprocessing
import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress

import pytest

from coordinator import accounts, recovery
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from coordinator.grants import Grant
from coordinator.outcomes import Outcome
from shared.policy import DEFAULT
from shared.problems import Conflict, RowVersionConflict
from tests.integration.clock import Clock
from tests.integration.coordinator.acting import OPERATOR, Acting, owner_of, running
from tests.integration.coordinator.racing import Racer, acquire_once, race, race_in_process
from tests.integration.seed import Seed
from tests.integration.waits import Connect, Connection, held, together, until_lock_waits
from tests.invariants.watching import watching

ROUNDS = 8
"""How often each small race is run."""


def servers(seed: Seed, *names: str, slots: int = 3) -> dict[str, uuid.UUID]:
    return {name: seed.server(name, slots=slots) for name in names}


def racers(boots: dict[str, uuid.UUID], rounds: int = 1) -> list[Racer]:
    return [Racer(name, boot_id, rounds, salt, DEFAULT) for salt, (name, boot_id) in enumerate(boots.items())]


def given(results: list[Grant | None]) -> list[int]:
    """The tasks that were given, in order; an error ends the test."""
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return sorted(result.task_id for result in results if result is not None)


class TestThreads:
    def test_two_servers_race_for_one_account(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        seed.marketplace("shopify")
        boots = servers(seed, "server-a", "server-b")
        for seq in range(1, ROUNDS + 1):
            task_id = seed.task(seed.account("shopify", size=100))
            results = together(*[lambda n=n, b=b, seq=seq: acting.acquire(n, b, seq) for n, b in boots.items()])
            assert given(results) == [task_id]
            sound()
            winner = next(name for name, grant in zip(boots, results, strict=True) if grant is not None)
            grant = next(grant for grant in results if grant is not None)
            acting.complete(owner_of(grant, winner, boots[winner]))

    def test_two_threads_race_for_one_slot(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        for code in ("shopify", "etsy"):
            seed.task(seed.account(code, size=100))
        (boot_id,) = servers(seed, "server-a", slots=1).values()
        first = 1
        for _ in range(ROUNDS):
            calls = [lambda seq=seq: acting.acquire("server-a", boot_id, seq) for seq in (first, first + 1)]
            results = [each for each in together(*calls) if not isinstance(each, Conflict)]
            assert len(given(results)) == 1, "the slot was given twice, or not at all"
            sound()
            (grant,) = (each for each in results if each is not None)
            acting.release(owner_of(grant, "server-a", boot_id))
            first += 2

    def test_two_threads_of_a_server_race_for_one_marketplace(
        self, acting: Acting, seed: Seed, sound: Callable[[], None]
    ) -> None:
        for _ in range(2):
            seed.task(seed.account("shopify", size=100))
        boots = servers(seed, "server-a", "server-b")
        calls = [lambda seq=seq: acting.acquire("server-a", boots["server-a"], seq) for seq in (1, 2)]
        results = [each for each in together(*calls) if not isinstance(each, Conflict)]
        assert len(given(results)) == 1
        sound()

    def test_servers_race_for_half_a_quota(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        for _ in range(12):
            seed.task(seed.account("shopify", size=100))
        boots = servers(seed, "server-a", "server-b", "server-c", "server-d")
        for seq in range(1, ROUNDS + 1):
            results = together(*[lambda n=n, b=b, seq=seq: acting.acquire(n, b, seq) for n, b in boots.items()])
            assert len(given(results)) == 2, "N = 4 at half a task each makes a quota of 2"
            sound()
            for name, grant in zip(boots, results, strict=True):
                if grant is not None:
                    acting.release(owner_of(grant, name, boots[name]))

    def test_servers_race_for_the_large_cap(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        for _ in range(8):
            seed.task(seed.account("shopify", size=9000), size_class="large")
        boots = servers(seed, "server-a", "server-b", "server-c", "server-d")
        results = together(*[lambda n=n, b=b: acting.acquire(n, b) for n, b in boots.items()])
        assert len(given(results)) == 3, "quota 4 keeps a reserve of 1"
        sound()

    def test_an_end_races_with_recovery_pause_and_cancel(
        self, database: Database, acting: Acting, seed: Seed, sound: Callable[[], None]
    ) -> None:
        for number in range(ROUNDS):
            crawl = running(seed, f"server-{number}", lease_seconds=0.05)
            results = together(
                lambda crawl=crawl: acting.complete(crawl.owner),
                lambda crawl=crawl: acting.release(crawl.owner),
                lambda crawl=crawl: acting.cancel(crawl.task_id),
                lambda crawl=crawl: pause(database, crawl.account_id),
                lambda: recovery.sweep(database, DEFAULT),
            )
            strange = [each for each in results if isinstance(each, BaseException) and not isinstance(each, Conflict)]
            assert strange == []
            ends = [each for each in results[:2] if isinstance(each, Outcome)]
            assert len(ends) <= 1, "two ends of one acquisition were accepted"
            sound()


def pause(database: Database, account_id: int, *, paused: bool = True) -> None:
    """An operator pauses the account as it is now, or lets it go on."""
    verb = accounts.pause if paused else accounts.resume

    def work(tx):  # type: ignore[no-untyped-def]  # a transaction
        row = tx.one("account_lock", account_id=account_id)
        return row["row_version"]

    version = database.transaction(work)
    database.transaction(lambda tx: verb(tx, account_id, version, OPERATOR))


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    """Two processes that share nothing with this one but the server."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


class TestProcesses:
    @pytest.fixture
    def acquired(
        self,
        processes: ProcessPoolExecutor,
        database_settings: DatabaseSettings,
        holder: Connection,
        watcher: Connection,
    ) -> Callable[[list[Racer]], list[int]]:
        """What racers get that are let go at once, when each of them waits for the marketplace."""

        def race_once(racing: list[Racer]) -> list[int]:
            with held(holder, "SELECT 1 FROM marketplaces FOR UPDATE"):
                futures = [processes.submit(acquire_once, racer, database_settings) for racer in racing]
                until_lock_waits(watcher, len(racing))
            return sorted(task_id for future in futures if (task_id := future.result(60)) is not None)

        return race_once

    def test_two_race_for_one_account(
        self, acquired: Callable[[list[Racer]], list[int]], seed: Seed, sound: Callable[[], None]
    ) -> None:
        task_id = seed.task(seed.account("shopify", size=100))
        assert acquired(racers(servers(seed, "server-a", "server-b"))) == [task_id]
        sound()

    def test_two_race_for_half_a_quota(
        self, acquired: Callable[[list[Racer]], list[int]], seed: Seed, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        for _ in range(4):
            seed.task(seed.account("shopify", size=100))
        assert len(acquired(racers(servers(seed, "server-a", "server-b")))) == 1
        sound()

    def test_two_of_one_server_race_for_its_only_slot(
        self,
        processes: ProcessPoolExecutor,
        database_settings: DatabaseSettings,
        seed: Seed,
        holder: Connection,
        watcher: Connection,
        sound: Callable[[], None],
    ) -> None:
        for code in ("shopify", "etsy"):
            seed.task(seed.account(code, size=100))
        (racer,) = racers(servers(seed, "server-a", slots=1))
        with held(holder, "SELECT 1 FROM servers FOR UPDATE"):
            futures = [processes.submit(acquire_once, racer, database_settings, acquire_seq) for acquire_seq in (1, 2)]
            until_lock_waits(watcher, 2)
        got = [future.result(60) for future in futures if future.exception(60) is None]
        assert len([task_id for task_id in got if task_id is not None]) == 1
        sound()

    def test_two_race_for_everything(
        self, processes: ProcessPoolExecutor, database_settings: DatabaseSettings, seed: Seed, sound: Callable[[], None]
    ) -> None:
        stock(seed)
        boots = servers(seed, "server-a", "server-b")
        futures = [processes.submit(race_in_process, each, database_settings) for each in racers(boots, 30)]
        seen = sum((future.result(60) for future in futures), Counter[str]())
        sound()
        assert seen["acquired"] > 20, f"there was no race: {seen}"
        assert seen["retries"] <= seen["acquired"] // 10, f"deadlocks: {seen}"


def stock(seed: Seed) -> list[int]:
    """Thirty accounts on three marketplaces, each with a waiting task; returns the accounts."""
    made = []
    for number in range(30):
        code = f"market-{number % 3}"
        if not seed.count("marketplaces", marketplace_code=code):
            seed.marketplace(code, quota_per_server=0.5)
        account_id = seed.account(code, size=100)
        seed.task(account_id, size_class="large" if number % 4 == 0 else "small")
        made.append(account_id)
    return made


@contextmanager
def meddling(meddle: Callable[[], None]) -> Iterator[None]:
    """Something goes on in the background for as long as the block runs; its errors come out at the end."""
    stop, errors = threading.Event(), list[BaseException]()

    def run() -> None:
        while not stop.is_set():
            try:
                meddle()
            except BaseException as error:
                errors.append(error)
                return

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    assert errors == []


def test_a_storm_of_servers_operators_and_lost_leases(
    database: Database, seed: Seed, session_clock: Clock, connect: Connect, sound: Callable[[], None]
) -> None:
    everybody = stock(seed)
    racing = racers(servers(seed, "server-a", "server-b", "server-c", "server-d"), 40)
    chance = random.Random(7)  # noqa: S311 - chance of a game, no secret
    meddler = Seed(connect(autocommit=True), session_clock)

    def meddle() -> None:
        expire_one(meddler, chance)
        with suppress(RowVersionConflict):
            pause(database, chance.choice(everybody), paused=chance.random() < 0.5)

    with meddling(meddle), watching(lambda: connect(autocommit=True)) as watch:
        results = together(*[lambda racer=racer: race(racer, database) for racer in racing])
    assert [each for each in results if isinstance(each, BaseException)] == []
    seen = sum(results, Counter[str]())
    assert watch.violations == []
    assert watch.snapshots > 5
    sound()
    assert seen["acquired"] > 30, f"there was no storm: {seen}"
    assert seen["lost"] + seen["recovered"] > 0, f"nobody lost a lease: {seen}"
    transactions = 4 * seen["acquired"] + seen["nothing"]
    assert database.retries.total() <= transactions // 20, f"{database.retries} retries in {transactions}: {seen}"


def expire_one(seed: Seed, chance: random.Random) -> None:
    """Let the lease of some running task end."""
    running_tasks = [row["task_id"] for row in seed.rows("SELECT task_id FROM crawl_tasks WHERE state = 'running'")]
    if running_tasks:
        seed.execute(
            "UPDATE crawl_tasks SET lease_expires_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
            " WHERE task_id = %s AND state = 'running'",
            chance.choice(running_tasks),
        )
