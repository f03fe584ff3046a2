"""Housekeeping: what leaves when, to the microsecond; what stays; and that a round is bounded and fenced."""

from __future__ import annotations

import datetime
import uuid
from typing import Any

import pytest
from structlog.testing import capture_logs

from coordinator import housekeeping, nonces
from coordinator.housekeeping import Tidied
from shared.problems import LeaseExpired, StaleFencingToken
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import running
from tests.integration.coordinator.commanding import Chief, Commanding
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

RETENTION = seconds(30 * 86_400)
MICROSECOND = datetime.timedelta(microseconds=1)
NOW_SECONDS = int(nonces.seconds_since_1970(START))
DEADLINE_SECONDS = 10


@pytest.fixture
def chief(commanding: Commanding, clock: Clock, seed: Seed) -> Chief:
    """The leader, elected just now."""
    return commanding.elect("server-a", seed.server("server-a"))


def ended(seed: Seed, account_id: int, ended_at: datetime.datetime, batches: int = 0, **columns: Any) -> int:
    """A completed task with its claim, its ledger and a reject per batch."""
    task_id = seed.task(account_id, "completed", ended_at=ended_at, last_batch_no=batches, **columns)
    owner = {"fencing_token": 1, "task_id": task_id}
    seed.insert(
        "task_claims",
        **owner,
        server_id="server-a",
        boot_id=bytes(16),
        marketplace_code="shopify",
        size_class="small",
        active_servers=1,
        quota=1,
        running_count=1,
        large_cap=1,
        large_count=0,
        claimed_at=ended_at,
    )
    for batch_no in range(1, batches + 1):
        seed.insert(
            "task_batches",
            **owner,
            batch_no=batch_no,
            epoch=1,
            body_digest=bytes(32),
            answer="{}",
            applied_at=ended_at,
        )
        # As young as can be, so that it goes with its task and not by its age.
        seed.insert(
            "listing_rejects",
            account_id=account_id,
            task_id=task_id,
            batch_no=batch_no,
            reason="no_title",
            detail="",
            recorded_at=START,
        )
    return task_id


def remaining(seed: Seed, table: str, column: str) -> list[Any]:
    return [row[column] for row in seed.rows(f"SELECT {column} FROM {table} ORDER BY {column}")]


class TestNonces:
    def add(self, seed: Seed, created: int, nonce: str = "n") -> None:
        seed.insert("nonces", created=created, key_id="key", nonce=nonce)

    def test_only_those_past_their_retention_leave(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        retention = int(commanding.policy.nonce_retention_seconds)
        clock.advance(seconds=2)
        for age in (retention - 1, retention, retention + 1, retention + 500):
            self.add(seed, NOW_SECONDS + 2 - age)
        assert commanding.tidy(chief).nonces_deleted == 2
        ages = [NOW_SECONDS + 2 - created for created in remaining(seed, "nonces", "created")]
        assert sorted(ages) == [retention - 1, retention]

    def test_within_the_second_none_leaves_early(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        self.add(seed, NOW_SECONDS - int(commanding.policy.nonce_retention_seconds))
        clock.advance(seconds="0.999999")
        assert commanding.tidy(chief).nonces_deleted == 0
        clock.advance(microseconds=1)
        assert commanding.tidy(chief).nonces_deleted == 1

    def test_a_round_takes_a_bite(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(housekeeping, "NONCES_PER_ROUND", 3)
        for n in range(5):
            self.add(seed, NOW_SECONDS - 1000 - n)
        assert [commanding.tidy(chief).nonces_deleted for _ in range(3)] == [3, 2, 0]


class TestByAge:
    @pytest.mark.parametrize(
        ("table", "column", "columns"),
        [
            ("task_events", "recorded_at", {"kind": "acquired", "detail": "{}"}),
            ("listing_changes", "recorded_at", {"account_id": 1, "listing_ref": "x", "kind": "changed"}),
            ("server_samples", "sampled_at", {"server_id": "server-a", "boot_id": bytes(16), "cpu_percent": 1}),
        ],
    )
    def test_what_is_past_the_retention_leaves(
        self,
        commanding: Commanding,
        chief: Chief,
        seed: Seed,
        table: str,
        column: str,
        columns: dict[str, Any],
    ) -> None:
        more = {"rss_bytes": 1, "running_tasks": 1} if table == "server_samples" else {}
        before = seed.count(table)
        for instant in (START - RETENTION - MICROSECOND, START - RETENTION, START):
            seed.insert(table, **columns, **more, **{column: instant})
        assert commanding.tidy(chief).history_deleted == 1
        assert seed.count(table, **{column: START - RETENTION - MICROSECOND}) == 0
        assert seed.count(table) == before + 2

    def test_rejects_of_a_task_that_stays_leave(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        task_id = seed.task(account_id := seed.account("shopify"))
        for instant in (START - RETENTION - MICROSECOND, START - RETENTION):
            seed.insert(
                "listing_rejects",
                account_id=account_id,
                task_id=task_id,
                batch_no=1,
                reason="no_title",
                detail="",
                recorded_at=instant,
            )
        assert commanding.tidy(chief).history_deleted == 1
        assert remaining(seed, "listing_rejects", "recorded_at") == [START - RETENTION]

    def test_plans_leave_and_then_their_terms(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        old = START - RETENTION - MICROSECOND
        for token, named in ((101, True), (102, False), (103, False)):
            ended_at = START - RETENTION if token == 103 else old
            seed.insert(
                "leadership_terms",
                fencing_token=token,
                server_id="server-x",
                boot_id=bytes(16),
                elected_at=old,
                ended_at=ended_at,
                end_reason="resigned",
            )
            if named:
                seed.insert(
                    "plans",
                    plan_id=uuid.uuid4().bytes,
                    fencing_token=token,
                    body_digest=bytes(32),
                    created_count=1,
                    skipped_count=0,
                    planned_at=START - RETENTION,
                )
        assert commanding.tidy(chief).history_deleted == 1
        assert remaining(seed, "leadership_terms", "fencing_token") == [1, 101, 103]
        seed.execute("UPDATE plans SET planned_at = %s", old)
        commanding.tidy(chief)
        commanding.tidy(chief)
        assert seed.count("plans") == 0
        assert remaining(seed, "leadership_terms", "fencing_token") == [1, 103]

    def test_the_current_term_stays_however_long_it_lasts(
        self, commanding: Commanding, chief: Chief, seed: Seed
    ) -> None:
        seed.execute("UPDATE leadership_terms SET elected_at = %s", START - 2 * RETENTION)
        assert commanding.tidy(chief).history_deleted == 0
        assert seed.count("leadership_terms") == 1

    def test_a_round_is_bounded_and_every_kind_gets_its_share(
        self, commanding: Commanding, chief: Chief, seed: Seed
    ) -> None:
        old = START - 2 * RETENTION
        for n in range(150):
            seed.insert("task_events", kind="acquired", detail="{}", recorded_at=old)
            seed.insert("listing_changes", account_id=1, listing_ref=f"x{n}", kind="changed", recorded_at=old)
        ended(seed, seed.account("shopify"), old, batches=60)
        assert commanding.tidy(chief).history_deleted <= housekeeping.ROWS_PER_ROUND
        assert seed.count("task_batches") < 60
        assert seed.count("task_events", kind="acquired") < 150
        assert seed.count("listing_changes") < 150
        for _ in range(20):
            commanding.tidy(chief)
        for table in ("crawl_tasks", "task_batches", "task_claims", "listing_rejects", "listing_changes"):
            assert seed.count(table) == 0, table
        assert seed.count("task_events", kind="acquired") == 0


class TestTasks:
    def test_an_ended_one_leaves_with_all_that_belongs_to_it(
        self, commanding: Commanding, chief: Chief, seed: Seed
    ) -> None:
        account_id = seed.account("shopify")
        ended(seed, account_id, START - RETENTION - MICROSECOND, batches=2)
        kept = ended(seed, account_id, START - RETENTION, batches=2)
        assert commanding.tidy(chief) == Tidied(nonces_deleted=0, history_deleted=6)
        assert remaining(seed, "crawl_tasks", "task_id") == [kept]
        assert remaining(seed, "task_batches", "task_id") == remaining(seed, "listing_rejects", "task_id") == [kept] * 2
        assert remaining(seed, "task_claims", "task_id") == [kept]

    def test_what_waits_or_runs_stays_however_old(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        old = {"created_at": START - 2 * RETENTION, "due_at": START - 2 * RETENTION}
        for state in ("queued", "delayed", "held"):
            seed.task(seed.account("shopify"), state, **old)
        running(seed, "server-b", **old)
        assert commanding.tidy(chief).history_deleted == 0
        assert seed.count("crawl_tasks") == 4

    def test_beyond_what_an_account_keeps_the_oldest_leave(
        self, commanding: Commanding, chief: Chief, seed: Seed
    ) -> None:
        few = commanding.with_policy(history_per_account=3)
        account_id, other = seed.account("shopify"), seed.account("shopify")
        tasks = [ended(seed, account_id, START - seconds(100 - n), batches=1) for n in range(5)]
        others = [ended(seed, other, START - seconds(100 - n)) for n in range(3)]
        seed.task(account_id, "queued")
        assert few.tidy(chief).history_deleted == 2 * 4
        assert seed.rows("SELECT task_id FROM crawl_tasks WHERE state = 'completed' ORDER BY task_id") == [
            {"task_id": task_id} for task_id in [*tasks[2:], *others]
        ]
        assert few.tidy(chief).history_deleted == 0

    def test_one_that_somebody_holds_is_left_for_later(
        self, commanding: Commanding, chief: Chief, seed: Seed, holder: Connection
    ) -> None:
        account_id = seed.account("shopify")
        task_id = ended(seed, account_id, START - 2 * RETENTION)
        with held(holder, "SELECT * FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task_id):
            assert in_thread(lambda: commanding.tidy(chief)).result(DEADLINE_SECONDS).history_deleted == 0
        assert commanding.tidy(chief).history_deleted == 2

    def test_a_stray_slot_is_freed(self, commanding: Commanding, chief: Chief, seed: Seed) -> None:
        seed.marketplace("shopify")
        seed.insert("server_marketplaces", server_id="server-a", marketplace_code="shopify", cursor_format="rest/1")
        task_id = ended(seed, seed.account("shopify"), START - 2 * RETENTION)
        seed.execute(
            "UPDATE server_slots SET task_id = %s, marketplace_code = 'shopify', size_class = 'small'"
            " WHERE slot_no = 2",
            task_id,
        )
        commanding.tidy(chief)
        assert seed.count("server_slots", task_id=None) == 3
        assert seed.count("crawl_tasks") == 0


class TestFencing:
    @pytest.fixture(autouse=True)
    def _something_to_do(self, seed: Seed, clock: Clock) -> None:
        seed.insert("nonces", created=1, key_id="key", nonce="n")
        seed.insert("task_events", kind="acquired", detail="{}", recorded_at=START - 2 * RETENTION)

    def test_a_leader_keeps_house_to_the_last_microsecond_of_its_lease(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        clock.advance(seconds="14.999999")
        assert commanding.tidy(chief) == Tidied(nonces_deleted=1, history_deleted=1)

    def test_an_ended_lease_deletes_nothing(
        self, commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
    ) -> None:
        clock.advance(seconds=15)
        with pytest.raises(LeaseExpired):
            commanding.tidy(chief)
        assert (seed.count("nonces"), seed.count("task_events", kind="acquired")) == (1, 1)

    @pytest.mark.parametrize("wrong", [{"fencing_token": 2}, {"boot_id": uuid.uuid4()}, {"server_id": "server-b"}])
    def test_nobody_else_deletes(self, commanding: Commanding, chief: Chief, seed: Seed, wrong: dict[str, Any]) -> None:
        with pytest.raises(StaleFencingToken):
            commanding.tidy(Chief(**{**vars(chief), **wrong}))
        assert (seed.count("nonces"), seed.count("task_events", kind="acquired")) == (1, 1)


def test_instants_ahead_of_the_clock_are_an_alarm(
    commanding: Commanding, chief: Chief, seed: Seed, clock: Clock
) -> None:
    with capture_logs() as quiet:
        commanding.tidy(chief)
    assert quiet == []
    seed.execute("UPDATE servers SET last_heartbeat_at = %s", START + seconds(6))
    with capture_logs() as logs:
        commanding.tidy(chief)
    assert logs == [
        {
            "event": "instant_ahead",
            "log_level": "warning",
            "column": "servers.last_heartbeat_at",
            "seconds_ahead": 6.0,
        }
    ]


def test_a_round_that_waited_past_the_lease_is_refused(
    commanding: Commanding, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    seed.insert("nonces", created=1, key_id="key", nonce="n")
    brief = commanding.with_policy(leader_lease_seconds=0.5)
    chief = brief.elect("server-a", seed.server("server-a"))
    expires_at = seed.row("leadership")["lease_expires_at"]
    with held(holder, "SELECT * FROM leadership FOR UPDATE"):
        answer = in_thread(lambda: brief.tidy(chief))
        until_lock_waits(watcher)
        assert seed.now() < expires_at, "the machine was too slow: the round began after the lease had ended"
        until_passed(watcher, expires_at)
    with pytest.raises(LeaseExpired):
        answer.result(DEADLINE_SECONDS)
    assert seed.count("nonces") == 1
