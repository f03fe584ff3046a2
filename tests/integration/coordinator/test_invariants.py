"""The database refuses what must never be; what it cannot refuse, the checker finds."""

from __future__ import annotations

import uuid
from collections.abc import Callable

import pymysql
import pytest

from tests.integration.coordinator.acting import Acting, batch, listing, running
from tests.integration.seed import Seed
from tests.integration.waits import Connection
from tests.invariants import checker

SEAT = {"marketplace_code": "shopify", "size_class": "small"}
FREE = {"task_id": None, "marketplace_code": None, "size_class": None}


class TestTheDatabaseRefuses:
    def refused(self, constraint: str, write: Callable[[], object]) -> None:
        with pytest.raises(pymysql.MySQLError, match=constraint):
            write()

    @pytest.mark.parametrize("state", ["queued", "delayed", "held"])
    def test_a_second_active_task_of_an_account(self, seed: Seed, state: str) -> None:
        account_id = seed.account("shopify")
        seed.task(account_id)
        self.refused("crawl_tasks_active", lambda: seed.task(account_id, state))
        seed.task(account_id, "failed")

    def test_a_running_task_without_a_slot(self, seed: Seed) -> None:
        boot_id = seed.server("server-a", marketplaces=["shopify"])
        task_id, now = seed.task(seed.account("shopify")), seed.now()
        runs = {
            "state": "running",
            "server_id": "server-a",
            "boot_id": boot_id,
            "fencing_token": 1,
            "acquired_at": now,
            "progress_at": now,
            "lease_expires_at": now,
        }
        self.refused("crawl_tasks_seat", lambda: seed.update("crawl_tasks", {"task_id": task_id}, **runs))

    def test_freeing_the_slot_of_a_running_task(self, seed: Seed) -> None:
        crawl = running(seed)
        self.refused("crawl_tasks_seat", lambda: seed.update("server_slots", {"task_id": crawl.task_id}, **FREE))

    def test_a_second_task_of_a_marketplace_on_a_server(self, seed: Seed) -> None:
        running(seed)
        other = seed.task(seed.account("shopify", size=100))
        second = {"server_id": "server-a", "slot_no": 2}
        self.refused("server_slots_marketplace", lambda: seed.update("server_slots", second, task_id=other, **SEAT))

    def test_a_task_in_two_slots(self, seed: Seed) -> None:
        crawl = running(seed)
        seed.server("server-b")
        elsewhere = {"server_id": "server-b", "slot_no": 1}
        self.refused("server_slots_task", lambda: seed.update("server_slots", elsewhere, task_id=crawl.task_id, **SEAT))

    def test_a_task_on_a_server_that_cannot_crawl_its_marketplace(self, seed: Seed) -> None:
        seed.server("server-a", marketplaces=["etsy"])
        task_id = seed.task(seed.account("shopify"))
        slot = {"server_id": "server-a", "slot_no": 1}
        self.refused("server_slots_capability", lambda: seed.update("server_slots", slot, task_id=task_id, **SEAT))

    def test_a_claim_above_its_quota_or_cap(self, seed: Seed) -> None:
        crawl = running(seed)
        claim = {
            "task_id": crawl.task_id,
            "fencing_token": 2,
            "server_id": "server-a",
            "boot_id": uuid.UUID(int=1),
            "marketplace_code": "shopify",
            "size_class": "large",
            "active_servers": 1,
            "quota": 2,
            "running_count": 2,
            "large_cap": 1,
            "large_count": 1,
            "claimed_at": seed.now(),
        }
        for changes, constraint in [
            ({"running_count": 3}, "task_claims_within_quota"),
            ({"large_count": 2}, "task_claims_within_cap"),
        ]:
            self.refused(constraint, lambda changes=changes: seed.insert("task_claims", **claim | changes))
        seed.insert("task_claims", **claim)

    def test_a_batch_number_twice(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch())
        copy = "INSERT INTO task_batches SELECT * FROM task_batches"
        self.refused("Duplicate entry", lambda: seed.execute(copy))

    def test_an_end_that_is_not_whole(self, seed: Seed) -> None:
        task_id = seed.task(seed.account("shopify"))
        for changes, constraint in [
            ({"state": "failed"}, "crawl_tasks_ended_whole"),
            ({"state": "completed", "ended_at": seed.now()}, "crawl_tasks_completion_whole"),
            ({"state": "delayed"}, "crawl_tasks_delayed_until"),
            ({"lease_expires_at": seed.now()}, "crawl_tasks_lease_while_running"),
            ({"server_id": "server-a"}, "crawl_tasks_no_owner_waiting"),
        ]:
            self.refused(
                constraint, lambda changes=changes: seed.update("crawl_tasks", {"task_id": task_id}, **changes)
            )


class TestTheCheckerFinds:
    def found(self, watcher: Connection, expected: str) -> None:
        assert [text for text in checker.violations(watcher) if text.startswith(expected)], (
            f"nothing begins with {expected!r}: {checker.violations(watcher)}"
        )

    def test_nothing_where_all_is_well(self, acting: Acting, seed: Seed, watcher: Connection) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a")]))
        acting.complete(crawl.owner, 1, 1)
        assert checker.violations(watcher) == []

    def test_a_slot_left_on_an_ended_task(self, seed: Seed, watcher: Connection) -> None:
        seed.server("server-a", marketplaces=["shopify"])
        task_id = seed.task(seed.account("shopify"), "failed")
        seed.update("server_slots", {"server_id": "server-a", "slot_no": 1}, task_id=task_id, **SEAT)
        self.found(watcher, f"I4: slot 1 of server-a still names task {task_id}")

    def test_more_tasks_than_slots(self, seed: Seed, watcher: Connection) -> None:
        running(seed)
        assert "I4: server-a runs 1 tasks, 0 are allowed" in checker.violations(watcher, slots_per_server=0)

    def test_a_task_of_a_former_boot(self, seed: Seed, watcher: Connection) -> None:
        running(seed)
        seed.update("servers", {"server_id": "server-a"}, boot_id=uuid.uuid4())
        self.found(watcher, "I6: task")

    def test_a_ledger_that_ends_elsewhere(self, acting: Acting, seed: Seed, watcher: Connection) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a")]))
        seed.update("crawl_tasks", {"task_id": crawl.task_id}, last_batch_no=2)
        self.found(watcher, "I8: the ledger")

    def test_a_listing_of_no_batch(self, acting: Acting, seed: Seed, watcher: Connection) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a")]))
        seed.update("listings", {"listing_ref": "a"}, batch_no=2)
        self.found(watcher, "I8: listing a")

    def test_progress_behind_the_checkpoint(self, seed: Seed, watcher: Connection) -> None:
        running(seed, current_page=2)
        self.found(watcher, "I7: the progress")

    def test_a_quota_that_does_not_follow_from_n(self, acting: Acting, seed: Seed, watcher: Connection) -> None:
        seed.task(seed.account("shopify", size=100))
        acting.acquire("server-a", seed.server("server-a"))
        seed.execute("UPDATE task_claims SET quota = 2, running_count = 2")
        self.found(watcher, "I5: claim 1 of task")

    def test_more_running_than_any_claim_saw_as_the_quota(
        self, acting: Acting, seed: Seed, watcher: Connection
    ) -> None:
        for number in range(2):
            seed.task(seed.account("shopify", size=100))
            acting.acquire(f"server-{number}", seed.server(f"server-{number}"))
        seed.execute("UPDATE task_claims SET quota = 1, running_count = 1, active_servers = 1")
        self.found(watcher, "I5: 2 tasks of shopify run")

    def test_a_task_that_runs_by_no_claim(self, seed: Seed, watcher: Connection) -> None:
        crawl = running(seed)
        seed.execute("DELETE FROM task_claims")
        self.found(watcher, f"I5: task {crawl.task_id} runs by token 1 and no claim")

    def test_a_token_that_was_left_out(self, seed: Seed, watcher: Connection) -> None:
        self.terms(seed, (1, 0, 10), (3, 10, None))
        self.found(watcher, "I1: 2 terms carry the tokens 1 to 3")

    def test_a_leadership_behind_its_terms(self, seed: Seed, watcher: Connection) -> None:
        self.terms(seed, (1, 0, 10))
        seed.update("leadership", {"leadership_id": 1}, fencing_token=0)
        self.found(watcher, "I1: the newest term is 1, the leadership says 0")

    def test_a_term_that_did_not_end(self, seed: Seed, watcher: Connection) -> None:
        self.terms(seed, (1, 0, None), (2, 10, None))
        self.found(watcher, "I1: term 1 has not ended, although 2 began")

    def test_terms_that_overlap(self, seed: Seed, watcher: Connection) -> None:
        self.terms(seed, (1, 0, 11), (2, 10, None))
        self.found(watcher, "I1: term 2 began at")

    def test_a_leader_whose_term_has_ended(self, seed: Seed, watcher: Connection) -> None:
        seed.server("server-a")
        seed.leader("server-a")
        seed.execute("UPDATE leadership_terms SET ended_at = UTC_TIMESTAMP(6), end_reason = 'resigned'")
        self.found(watcher, "I1: term 1 has ended (resigned), yet server-a leads")

    def test_a_plan_after_its_term(self, seed: Seed, watcher: Connection) -> None:
        self.terms(seed, (1, 0, 10))
        seed.execute(
            "INSERT INTO plans (plan_id, fencing_token, body_digest, created_count, skipped_count, planned_at)"
            " SELECT REPEAT('x', 16), 1, REPEAT('x', 32), 0, 0, ended_at + INTERVAL 1 MICROSECOND"
            " FROM leadership_terms"
        )
        self.found(watcher, "I2: a plan of term 1 was made at")

    def terms(self, seed: Seed, *terms: tuple[int, int, int | None]) -> None:
        """Terms by token, begun and ended so many seconds from now; the leadership knows the last."""
        for token, begun, ended in terms:
            seed.execute(
                "INSERT INTO leadership_terms (fencing_token, server_id, boot_id, elected_at, ended_at, end_reason)"
                " VALUES (%s, 'server-a', REPEAT('b', 16), UTC_TIMESTAMP(6) + INTERVAL %s SECOND,"
                " UTC_TIMESTAMP(6) + INTERVAL %s SECOND, IF(%s IS NULL, NULL, 'superseded'))",
                token,
                begun,
                ended,
                ended,
            )
        seed.update("leadership", {"leadership_id": 1}, fencing_token=terms[-1][0])
