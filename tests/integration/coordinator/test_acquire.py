"""Acquire: which task a server is given, what it is given with it, and when it is given none."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from coordinator import credentials
from coordinator.database import Database
from coordinator.grants import Account, Checkpoint, Credentials
from coordinator.vault import Vault
from shared.problems import BootSuperseded, ServerDraining, ServerNotRegistered, StaleRequest
from shared.states import Enumeration, SizeClass
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import VAULT, Acting
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connect, Connection, held, in_thread, until_lock_waits, until_passed


def queued(seed: Seed, marketplace: str, key: float = 0, account: dict[str, Any] | None = None, **task: Any) -> int:
    """A waiting task whose key lies ``key`` seconds after now; returns its number."""
    account_id = seed.account(marketplace, **{"size": 100, **(account or {})})
    return seed.task(account_id, dispatch_key=seed.now() + seconds(key), **task)


def give_credentials(seed: Seed, account_id: int, values: dict[str, str], vault: Vault = VAULT) -> None:
    sealed = credentials.seal(vault, account_id, values)
    seed.insert(
        "account_credentials",
        account_id=account_id,
        version=3,
        encryption_version=sealed.version,
        secret_nonce=sealed.nonce,
        secret_sealed=sealed.ciphertext,
        updated_at=seed.now(),
    )


class TestWhatIsGiven:
    def test_a_grant_carries_all_that_a_crawl_needs(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        account = {"account_ref": "seller-7", "settings": '{"shop": "7"}', "size": 140}
        task_id = queued(
            seed,
            "shopify",
            account=account,
            epoch=2,
            enumeration="guessed",
            cursor_format="rest/1",
            last_batch_no=4,
            current_page=3,
            last_cursor_token="after-3",
            processed_count=300,
            total_discovered_count=900,
            progress_page=9,
            progress_processed_count=900,
            fencing_token=6,
        )
        account_id = seed.row("crawl_tasks", task_id=task_id)["account_id"]
        give_credentials(seed, account_id, {"token": "secret"})
        boot_id = seed.server("server-a")

        grant = acting.acquire("server-a", boot_id)

        assert grant is not None
        assert (grant.task_id, grant.fencing_token, grant.last_batch_no) == (task_id, 7, 4)
        assert (grant.lease_seconds, grant.lease_remaining_seconds) == (60, 60)
        assert (grant.size_class, grant.enumeration) == (SizeClass.SMALL, Enumeration.GUESSED)
        assert grant.account == Account(account_id, "shopify", "seller-7", {"shop": "7"}, 140)
        assert grant.credentials == Credentials(3, {"token": "secret"})
        assert "secret" not in repr(grant)
        assert grant.checkpoint == Checkpoint(2, 3, "after-3", 300, 900)

    def test_the_task_runs_from_its_checkpoint_under_a_lease(
        self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        task_id = queued(seed, "shopify", cursor_format="rest/1", current_page=3, processed_count=300)
        seed.update("crawl_tasks", {"task_id": task_id}, progress_page=9, progress_processed_count=900, last_batch_no=0)
        boot_id = seed.server("server-a")
        acting.acquire("server-a", boot_id)
        task = seed.row("crawl_tasks", task_id=task_id)
        assert (task["state"], task["server_id"], task["boot_id"]) == ("running", "server-a", boot_id.bytes)
        assert (task["acquired_at"], task["lease_expires_at"]) == (START, START + seconds(60))
        assert (task["progress_page"], task["progress_processed_count"], task["acquired_page"]) == (3, 300, 3)
        assert task["progress_at"] == START
        slot = seed.row("server_slots", server_id="server-a", slot_no=1)
        assert (slot["task_id"], slot["marketplace_code"], slot["size_class"]) == (task_id, "shopify", "small")
        event = seed.row("task_events", task_id=task_id, kind="acquired")
        assert (event["server_id"], event["fencing_token"], event["recorded_at"]) == ("server-a", 1, START)
        sound()

    def test_an_account_without_credentials_is_given_without(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        grant = acting.acquire("server-a", seed.server("server-a"))
        assert grant is not None
        assert grant.credentials is None

    def test_a_cursor_that_the_server_does_not_speak_opens_an_epoch(self, acting: Acting, seed: Seed) -> None:
        task_id = queued(
            seed, "shopify", cursor_format="rest/0", current_page=3, last_cursor_token="x", processed_count=300
        )
        grant = acting.acquire("server-a", seed.server("server-a"))
        assert grant is not None
        assert grant.checkpoint == Checkpoint(2, 0, None, 0, None)
        assert grant.enumeration is Enumeration.GUESSED
        task = seed.row("crawl_tasks", task_id=task_id)
        assert (task["epoch"], task["current_page"], task["progress_page"], task["enumeration"]) == (2, 0, 0, "guessed")
        assert seed.count("task_events", task_id=task_id, kind="epoch_opened") == 1

    def test_a_task_that_has_no_checkpoint_has_no_cursor_to_misread(self, acting: Acting, seed: Seed) -> None:
        task_id = queued(seed, "shopify", cursor_format="rest/0")
        acting.acquire("server-a", seed.server("server-a"))
        assert seed.row("crawl_tasks", task_id=task_id)["epoch"] == 1


class TestOrder:
    def test_the_best_key_of_all_groups_comes_first(self, acting: Acting, seed: Seed) -> None:
        third = queued(seed, "trendyol", 30)
        first = queued(seed, "shopify", 10, size_class="large", size=9000)
        second = queued(seed, "etsy", 20, size_class="probe", size=None)
        queued(seed, "shopify", 20)
        boot_id = seed.server("server-a")
        given = [acting.acquire("server-a", boot_id, seq) for seq in (1, 2, 3)]
        assert [grant and grant.task_id for grant in given] == [first, second, third]

    def test_equal_keys_go_by_number(self, acting: Acting, seed: Seed) -> None:
        now = seed.now()
        numbers = [seed.task(seed.account("shopify", size=100), dispatch_key=now) for _ in range(3)]
        boots = {name: seed.server(name) for name in ("server-a", "server-b")}
        given = [acting.acquire(name, boot_id) for name, boot_id in boots.items()]
        assert [grant and grant.task_id for grant in given] == numbers[:2]

    def test_a_task_that_somebody_holds_is_passed_over(self, acting: Acting, seed: Seed, holder: Connection) -> None:
        best, next_best = queued(seed, "shopify", 1), queued(seed, "shopify", 2)
        boot_id = seed.server("server-a")
        with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", best):
            grant = acting.acquire("server-a", boot_id)
        assert grant is not None
        assert grant.task_id == next_best


class TestNothing:
    def give_nothing(self, acting: Acting, seed: Seed, **server: Any) -> None:
        boot_id = seed.server("server-a", **server)
        assert acting.acquire("server-a", boot_id) is None
        assert seed.row("servers", server_id="server-a")["acquire_seq"] == 1
        assert seed.count("task_claims") == 0

    def test_when_nothing_waits(self, acting: Acting, seed: Seed) -> None:
        for state in ("delayed", "held", "completed"):
            seed.task(seed.account("shopify"), state)
        self.give_nothing(acting, seed)

    def test_when_the_server_is_paused(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        self.give_nothing(acting, seed, paused=True)

    def test_when_the_marketplace_is_paused(self, acting: Acting, seed: Seed) -> None:
        seed.marketplace("shopify", paused=True)
        queued(seed, "shopify")
        self.give_nothing(acting, seed)

    def test_when_the_server_cannot_crawl_the_marketplace(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        self.give_nothing(acting, seed, marketplaces=["etsy"])

    def test_when_there_is_no_slot(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        self.give_nothing(acting, seed, slots=0)

    def test_when_the_slots_are_taken(self, acting: Acting, seed: Seed) -> None:
        for marketplace in ("shopify", "etsy", "trendyol"):
            queued(seed, marketplace)
        boot_id = seed.server("server-a", slots=2)
        assert [acting.acquire("server-a", boot_id, seq) is None for seq in (1, 2, 3)] == [False, False, True]

    def test_when_the_policy_allows_fewer_slots_than_there_are(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify", 1)
        queued(seed, "etsy", 2)
        boot_id = seed.server("server-a", slots=3)
        few = acting.with_policy(slots_per_server=1)
        assert [few.acquire("server-a", boot_id, seq) is None for seq in (1, 2)] == [False, True]

    def test_when_the_marketplace_already_runs_on_the_server(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify", 1)
        queued(seed, "shopify", 2)
        seed.server("server-b")
        boot_id = seed.server("server-a")
        assert acting.acquire("server-a", boot_id, 1) is not None
        assert acting.acquire("server-a", boot_id, 2) is None


class TestRefusals:
    def test_a_server_that_never_registered(self, acting: Acting) -> None:
        with pytest.raises(ServerNotRegistered):
            acting.acquire("server-a", uuid.uuid4())

    def test_a_boot_that_was_superseded(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        seed.server("server-a")
        with pytest.raises(BootSuperseded):
            acting.acquire("server-a", uuid.uuid4())

    def test_a_server_that_left(self, acting: Acting, seed: Seed) -> None:
        boot_id = seed.server("server-a", deregistered_at=seed.now())
        with pytest.raises(ServerNotRegistered):
            acting.acquire("server-a", boot_id)

    def test_a_draining_server(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        boot_id = seed.server("server-a", draining=True)
        with pytest.raises(ServerDraining):
            acting.acquire("server-a", boot_id)
        assert seed.row("servers", server_id="server-a")["acquire_seq"] == 0


class TestRepeats:
    def test_the_same_request_gets_the_same_task_and_its_lease_anew(
        self, acting: Acting, seed: Seed, clock: Clock
    ) -> None:
        task_id = queued(seed, "shopify")
        boot_id = seed.server("server-a")
        first = acting.acquire("server-a", boot_id)
        clock.advance(seconds="59.999999")
        assert acting.acquire("server-a", boot_id) == first
        assert seed.row("crawl_tasks", task_id=task_id)["lease_expires_at"] == clock.now + seconds(60)
        assert seed.count("task_claims") == 1

    def test_not_once_its_lease_has_ended(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        task_id = queued(seed, "shopify")
        boot_id = seed.server("server-a")
        acting.acquire("server-a", boot_id)
        clock.advance(seconds=60)
        assert acting.acquire("server-a", boot_id) is None
        assert seed.row("crawl_tasks", task_id=task_id)["lease_expires_at"] == clock.now

    def test_not_once_the_task_was_acquired_again(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        task_id = queued(seed, "shopify")
        boot_id = seed.server("server-a")
        acting.acquire("server-a", boot_id)
        seed.update("crawl_tasks", {"task_id": task_id}, fencing_token=2)
        assert acting.acquire("server-a", boot_id) is None

    def test_not_once_the_task_is_gone(self, acting: Acting, seed: Seed) -> None:
        boot_id = seed.server("server-a", acquire_seq=4, acquired_task_id=4711, acquired_fencing_token=1)
        assert acting.acquire("server-a", boot_id, 4) is None

    def test_a_request_that_got_nothing_gets_nothing_again(self, acting: Acting, seed: Seed) -> None:
        seed.marketplace("shopify")
        boot_id = seed.server("server-a")
        assert acting.acquire("server-a", boot_id, 1) is None
        queued(seed, "shopify")
        assert acting.acquire("server-a", boot_id, 1) is None
        assert acting.acquire("server-a", boot_id, 2) is not None

    def test_a_repeat_is_answered_though_the_server_began_to_drain(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        boot_id = seed.server("server-a")
        first = acting.acquire("server-a", boot_id)
        seed.update("servers", {"server_id": "server-a"}, draining=True)
        assert acting.acquire("server-a", boot_id) == first

    def test_an_earlier_request_comes_too_late(self, acting: Acting, seed: Seed) -> None:
        queued(seed, "shopify")
        boot_id = seed.server("server-a", acquire_seq=5)
        with pytest.raises(StaleRequest) as refused:
            acting.acquire("server-a", boot_id, 4)
        assert refused.value.members == {"acquire_seq": 5}
        assert seed.count("task_claims") == 0


class TestQuota:
    def servers(self, seed: Seed, *names: str) -> dict[str, uuid.UUID]:
        return {name: seed.server(name) for name in names}

    def test_no_more_tasks_of_a_marketplace_run_than_its_quota(
        self, acting: Acting, seed: Seed, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        for key in range(3):
            queued(seed, "shopify", key)
        elsewhere = queued(seed, "etsy", 9)
        boots = self.servers(seed, "server-a", "server-b", "server-c")
        given = [acting.acquire(name, boot_id) for name, boot_id in boots.items()]
        assert [grant and grant.account.marketplace_code for grant in given] == ["shopify", "shopify", "etsy"]
        assert given[2] is not None
        assert given[2].task_id == elsewhere
        claims = seed.rows(
            "SELECT active_servers, quota, running_count FROM task_claims WHERE marketplace_code='shopify'"
        )
        assert claims == [
            {"active_servers": 3, "quota": 2, "running_count": 1},
            {"active_servers": 3, "quota": 2, "running_count": 2},
        ]
        sound()

    @pytest.mark.parametrize(("silent_for", "more"), [("119.999999", True), ("120.000000", False)])
    def test_n_counts_servers_heard_of_lately(
        self, acting: Acting, seed: Seed, clock: Clock, silent_for: str, *, more: bool
    ) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        queued(seed, "shopify", 1)
        queued(seed, "shopify", 2)
        seed.server("silent")
        clock.advance(seconds=silent_for)
        boots = self.servers(seed, "server-a", "server-b")
        assert acting.acquire("server-a", boots["server-a"]) is not None
        assert (acting.acquire("server-b", boots["server-b"]) is not None) is more

    def test_large_tasks_leave_a_reserve(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        for key in range(3):
            queued(seed, "shopify", key, size_class="large", size=9000)
        small = queued(seed, "shopify", 9)
        boots = self.servers(seed, "server-a", "server-b", "server-c")
        given = [acting.acquire(name, boot_id) for name, boot_id in boots.items()]
        classes = [grant and grant.size_class for grant in given]
        assert classes == [SizeClass.LARGE, SizeClass.LARGE, SizeClass.SMALL], "quota 3 has a large cap of 2"
        assert given[2] is not None
        assert given[2].task_id == small
        sound()

    def test_what_was_seated_while_it_waited_for_the_marketplace_counts(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection, sound: Callable[[], None]
    ) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        waiting = queued(seed, "shopify", 1)
        boots, other = self.servers(seed, "server-a", "server-b"), seed.account("shopify", size=100)
        with held(holder, "SELECT 1 FROM marketplaces WHERE marketplace_code = 'shopify' FOR UPDATE"):
            answer = in_thread(lambda: acting.acquire("server-a", boots["server-a"]))
            until_lock_waits(watcher)
            seed.task(other, "running", server_id="server-b")
        assert answer.result(10) is None
        assert seed.row("crawl_tasks", task_id=waiting)["state"] == "queued"
        sound()

    def test_a_server_that_left_while_it_waited_counts_no_more(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        seed.marketplace("shopify", quota_per_server=0.5)
        boots = self.servers(seed, "server-a", "server-b", "server-c")
        seed.task(seed.account("shopify", size=100), "running", server_id="server-b")
        queued(seed, "shopify", 1)
        with held(holder, "SELECT 1 FROM marketplaces WHERE marketplace_code = 'shopify' FOR UPDATE"):
            answer = in_thread(lambda: acting.acquire("server-a", boots["server-a"]))
            until_lock_waits(watcher)
            seed.update("servers", {"server_id": "server-c"}, deregistered_at=seed.now())
        assert answer.result(10) is None

    def test_a_marketplace_paused_while_it_waited_gives_nothing(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        queued(seed, "shopify", 1)
        boot_id = seed.server("server-a")
        with held(holder, "UPDATE marketplaces SET paused = TRUE WHERE marketplace_code = 'shopify'"):
            answer = in_thread(lambda: acting.acquire("server-a", boot_id))
            until_lock_waits(watcher)
        assert answer.result(10) is None

    def test_one_marketplace_is_waited_for_and_further_ones_are_passed_over(
        self, acting: Acting, seed: Seed, connect: Connect, watcher: Connection
    ) -> None:
        for code in ("full", "busy", "free"):
            seed.marketplace(code, quota_per_server=0.5)
        queued(seed, "full", 1)
        queued(seed, "busy", 2)
        free = queued(seed, "free", 3)
        boots, other = self.servers(seed, "server-a", "server-b"), seed.account("full", size=100)
        lock = "SELECT 1 FROM marketplaces WHERE marketplace_code = %s FOR UPDATE"
        with held(connect(), lock, "busy"):
            with held(connect(), lock, "full"):
                answer = in_thread(lambda: acting.acquire("server-a", boots["server-a"]))
                until_lock_waits(watcher)
                seed.task(other, "running", server_id="server-b")
            grant = answer.result(10)
        assert grant is not None
        assert grant.task_id == free


class TestAccounts:
    def test_a_task_of_a_paused_account_is_held_and_the_next_one_given(self, acting: Acting, seed: Seed) -> None:
        paused = queued(seed, "shopify", 1, account={"paused": True})
        other = queued(seed, "shopify", 2)
        grant = acting.acquire("server-a", seed.server("server-a"))
        assert grant is not None
        assert grant.task_id == other
        assert seed.row("crawl_tasks", task_id=paused)["state"] == "held"
        assert seed.count("task_events", task_id=paused, kind="held") == 1

    def test_a_task_of_a_suspended_account_is_cancelled(self, acting: Acting, seed: Seed) -> None:
        suspended = queued(seed, "shopify", 1, account={"suspended_at": seed.now()})
        due = seed.row("accounts")["next_due_at"]
        assert acting.acquire("server-a", seed.server("server-a")) is None
        assert seed.row("crawl_tasks", task_id=suspended)["state"] == "cancelled"
        assert seed.row("accounts")["next_due_at"] == due, "it is due once its credentials change"

    def test_credentials_that_do_not_open_stop_only_their_account(self, acting: Acting, seed: Seed) -> None:
        broken = queued(seed, "shopify", 1)
        account_id = seed.row("crawl_tasks", task_id=broken)["account_id"]
        give_credentials(seed, account_id, {"token": "secret"}, Vault({1: bytes(range(1, 33))}))
        other = queued(seed, "shopify", 2)
        grant = acting.acquire("server-a", seed.server("server-a"))
        assert grant is not None
        assert grant.task_id == other
        task = seed.row("crawl_tasks", task_id=broken)
        assert (task["state"], task["error_code"], task["attempts"]) == ("delayed", "credentials_unreadable", 0)

    def test_a_pause_that_holds_the_task_first_wins(self, acting: Acting, seed: Seed, holder: Connection) -> None:
        task_id = queued(seed, "shopify", 1)
        boot_id = seed.server("server-a")
        with held(holder, "UPDATE crawl_tasks SET state = 'held' WHERE task_id = %s", task_id):
            assert acting.acquire("server-a", boot_id) is None

    def test_a_resume_that_never_saw_the_task_is_waited_for(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        task_id = queued(seed, "shopify", 1, account={"paused": True})
        boot_id = seed.server("server-a")
        with held(holder, "UPDATE accounts SET paused = FALSE"):
            answer = in_thread(lambda: acting.acquire("server-a", boot_id))
            until_lock_waits(watcher)
        grant = answer.result(timeout=30)
        assert grant is not None, "held, and nobody would ever resume it"
        assert grant.task_id == task_id


class TestRealClock:
    """A set clock hides a `now` from before a wait: these run on the real one."""

    def test_the_lease_counts_from_after_the_wait(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        task_id = queued(seed, "shopify")
        boot_id = seed.server("server-a")
        with held(holder, "SELECT 1 FROM marketplaces FOR UPDATE"):
            answer = in_thread(lambda: acting.acquire("server-a", boot_id))
            until_lock_waits(watcher)
            waited_until = seed.now() + seconds(0.2)
            until_passed(watcher, waited_until)
        assert answer.result(10) is not None
        task = seed.row("crawl_tasks", task_id=task_id)
        assert task["acquired_at"] >= waited_until, "the lease counts from before the wait"
        assert task["lease_expires_at"] == task["acquired_at"] + seconds(60)
        assert task["progress_at"] == task["acquired_at"]

    def test_a_repeat_does_not_revive_a_lease_that_ended_while_it_waited(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection
    ) -> None:
        task_id = queued(seed, "shopify")
        boot_id = seed.server("server-a")
        short = acting.with_policy(task_lease_seconds=1)
        assert short.acquire("server-a", boot_id) is not None
        ends = seed.row("crawl_tasks", task_id=task_id)["lease_expires_at"]
        with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", task_id):
            answer = in_thread(lambda: short.acquire("server-a", boot_id))
            until_lock_waits(watcher)
            until_passed(watcher, ends)
        assert answer.result(10) is None
        assert seed.row("crawl_tasks", task_id=task_id)["lease_expires_at"] == ends


def test_two_requests_of_a_server_follow_each_other(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection, database: Database
) -> None:
    queued(seed, "shopify", 1)
    queued(seed, "etsy", 2)
    boot_id = seed.server("server-a")
    with held(holder, "SELECT 1 FROM servers WHERE server_id = 'server-a' FOR UPDATE"):
        answers = [in_thread(lambda seq=seq: acting.acquire("server-a", boot_id, seq)) for seq in (1, 1)]
        until_lock_waits(watcher, 2)
    first, second = (answer.result(10) for answer in answers)
    assert first == second is not None
    assert seed.count("task_claims") == 1
