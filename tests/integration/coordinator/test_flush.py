"""Flushes: a batch takes effect once, wholly, or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from pymysql.cursors import DictCursor

from coordinator import catalogue
from coordinator.database import Transaction
from coordinator.ownership import Owner
from shared.listing import Batch, Listing, Reject
from shared.policy import DEFAULT
from shared.problems import BatchConflict, BatchGap, CheckpointRegression, InvalidInput, Problem, StaleTaskOwner
from shared.states import ListingStatus
from tests.integration.clock import START, Clock
from tests.integration.coordinator.acting import Acting, Running, batch, listing, running
from tests.integration.coordinator.instants import seconds
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

TABLES = ("listings", "listing_rejects", "listing_changes", "task_batches", "crawl_tasks", "accounts")


def everything(seed: Seed) -> dict[str, list[dict[str, object]]]:
    """All that a flush may write."""
    return {table: seed.rows(f"SELECT * FROM {table}") for table in TABLES}


def numbers(count: int, title: str = "A thing", start: int = 0) -> list[Listing]:
    return [listing(f"ref-{number:05}", title) for number in range(start, start + count)]


def again(seed: Seed, crawl: Running) -> Running:
    """The account's next crawl, running on the same server."""
    seed.update(
        "crawl_tasks", {"task_id": crawl.task_id}, state="cancelled", lease_expires_at=None, ended_at=seed.now()
    )
    seed.update("server_slots", {"task_id": crawl.task_id}, task_id=None, marketplace_code=None, size_class=None)
    seed.execute("UPDATE accounts SET crawl_no = crawl_no + 1 WHERE account_id = %s", crawl.account_id)
    task_id = seed.task(crawl.account_id, "running", server_id=crawl.owner.server_id)
    return Running(task_id, crawl.account_id, replace(crawl.owner, task_id=task_id))


class TestApplied:
    def test_listings_ledger_and_checkpoint_are_written(
        self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed, attempts=2, epoch=2, fencing_token=5)
        owner = replace(crawl.owner, fencing_token=5)
        clock.advance(seconds=10)
        sent = batch(numbers(2), page=3, processed=250, token="after-3", total=900)
        answer = acting.flush(owner, 1, sent)
        assert (answer.batch_no, answer.replayed, answer.lease_remaining_seconds) == (1, False, 60)
        assert (answer.appeared, answer.changed, answer.unchanged, answer.duplicates, answer.rejected) == (
            2,
            0,
            0,
            0,
            0,
        )
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["last_batch_no"], task["current_page"], task["last_cursor_token"]) == (1, 3, "after-3")
        assert (task["processed_count"], task["total_discovered_count"], task["cursor_format"]) == (250, 900, "rest/1")
        assert (task["progress_page"], task["progress_cursor_token"], task["progress_processed_count"]) == (
            3,
            "after-3",
            250,
        )
        assert (task["progress_at"], task["lease_expires_at"]) == (clock.now, clock.now + seconds(60))
        assert task["attempts"] == 0
        ledger = seed.row("task_batches", task_id=crawl.task_id, batch_no=1)
        assert (ledger["epoch"], ledger["fencing_token"], ledger["applied_at"]) == (2, 5, clock.now)
        sound()

    def test_every_member_of_a_listing_is_kept(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        full = Listing(
            listing_ref="Ürün-007 \U0001f9e6",
            title="Socks \U0001f9e6 'quoted' \\ 100%",
            status=ListingStatus.INACTIVE,
            parent_ref="P-1",
            title_cut=True,
            sku="0042",
            barcode="0012345678905",
            price=Decimal("1234.5"),
            list_price=Decimal("99999999999999.9999"),
            currency="TRY",
            quantity=-3,
            attributes={"colour": "blue", "kg": 1.5, "new": True, "none": None},
        )
        acting.flush(crawl.owner, 1, batch([full]))
        row = seed.row("listings", account_id=crawl.account_id)
        assert json.loads(row.pop("attributes")) == {"colour": "blue", "kg": 1.5, "new": True, "none": None}
        assert len(row.pop("content_hash")) == 33
        assert row == {
            "account_id": crawl.account_id,
            "listing_ref": "Ürün-007 \U0001f9e6",
            "marketplace_code": "shopify",
            "parent_ref": "P-1",
            "title": "Socks \U0001f9e6 'quoted' \\ 100%",
            "title_cut": 1,
            "sku": "0042",
            "barcode": "0012345678905",
            "price": Decimal("1234.5000"),
            "list_price": Decimal("99999999999999.9999"),
            "currency": "TRY",
            "quantity": -3,
            "status": "inactive",
            "first_seen_at": START,
            "changed_at": START,
            "last_seen_crawl_no": 1,
            "delisted_at": None,
            "task_id": crawl.task_id,
            "fencing_token": 1,
            "batch_no": 1,
        }

    def test_a_batch_without_listings_moves_the_checkpoint(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        answer = acting.flush(crawl.owner, 1, batch([], page=1, processed=0, token="after-1"))
        assert (answer.appeared, answer.rejected) == (0, 0)
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["last_cursor_token"] == "after-1"

    def test_the_last_of_two_alike_wins_and_the_other_is_counted(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        answer = acting.flush(crawl.owner, 1, batch([listing("b", "old"), listing("a"), listing("b", "new")]))
        assert (answer.appeared, answer.duplicates) == (2, 1)
        assert seed.row("listings", listing_ref="b")["title"] == "new"

    def test_references_that_only_look_alike_are_two(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        refs = ["A", "a", "a ", "\u00e1", "a\u0301"]
        assert acting.flush(crawl.owner, 1, batch([listing(ref) for ref in refs])).appeared == len(refs)

    def test_rejects_are_kept_and_counted(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        rejects = [Reject(reason="no_title", detail="title is null", record_ref="x"), Reject(reason="no_id")]
        assert acting.flush(crawl.owner, 1, batch([listing("a")], rejects=rejects)).rejected == 2
        rows = seed.rows("SELECT record_ref, reason, detail, batch_no FROM listing_rejects ORDER BY reject_id")
        assert rows == [
            {"record_ref": "x", "reason": "no_title", "detail": "title is null", "batch_no": 1},
            {"record_ref": None, "reason": "no_id", "detail": "", "batch_no": 1},
        ]

    def test_a_guess_stays_a_guess(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1), guessed=True))
        acting.flush(crawl.owner, 2, batch(numbers(1), page=2))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["enumeration"] == "guessed"

    def test_progress_that_was_claimed_already_stays(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.heartbeat(crawl.owner, 4, 400, token="after-4")
        clock.advance(seconds=5)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=2, processed=200, token="after-2"))
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["progress_page"], task["progress_cursor_token"]) == (4, "after-4")
        assert (task["current_page"], task["progress_at"]) == (2, clock.now)

    def test_the_answer_carries_orders(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed, cancel_requested=True)
        seed.update("servers", {"server_id": "server-a"}, draining=True)
        answer = acting.flush(crawl.owner, 1, batch())
        assert (answer.cancel, answer.drain, answer.yield_) == (True, True, False)


class TestNumbers:
    def test_a_batch_too_early_is_told_which_comes_next(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1)))
        before = everything(seed)
        with pytest.raises(BatchGap) as refused:
            acting.flush(crawl.owner, 3, batch(numbers(1), page=2))
        assert refused.value.members == {"expected_batch_no": 2}
        assert everything(seed) == before

    def test_the_same_again_is_answered_alike_with_fresh_orders(
        self, acting: Acting, seed: Seed, clock: Clock, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        sent = batch(numbers(3), rejects=[Reject(reason="no_id")])
        first = acting.flush(crawl.owner, 1, sent)
        acting.flush(crawl.owner, 2, batch(numbers(3, "other"), page=2, processed=7))
        seed.update("crawl_tasks", {"task_id": crawl.task_id}, cancel_requested=True)
        before = everything(seed)
        clock.advance(seconds=30)
        second = acting.flush(crawl.owner, 1, sent)
        assert second == replace(first, replayed=True, cancel=True)
        after = everything(seed)
        assert after["crawl_tasks"][0].pop("lease_expires_at") == clock.now + seconds(60)
        before["crawl_tasks"][0].pop("lease_expires_at")
        assert after == before
        sound()

    def test_a_replay_of_a_former_owners_batch_is_answered_too(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        sent = batch(numbers(1))
        acting.flush(crawl.owner, 1, sent)
        seed.update("crawl_tasks", {"task_id": crawl.task_id}, fencing_token=2)
        assert acting.flush(replace(crawl.owner, fencing_token=2), 1, sent).replayed

    def test_the_same_number_with_other_content_is_refused(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1)))
        before = everything(seed)
        with pytest.raises(BatchConflict):
            acting.flush(crawl.owner, 1, batch(numbers(1), token="other"))
        assert everything(seed) == before

    def test_numbers_run_on_in_a_new_epoch(self, acting: Acting, seed: Seed, sound: Callable[[], None]) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=9, processed=900))
        acting.fail(crawl.owner, "cursor_expired")
        grant = acting.acquire("server-a", crawl.owner.boot_id)
        assert grant is not None
        assert grant.last_batch_no == 1
        owner = Owner(crawl.task_id, "server-a", crawl.owner.boot_id, grant.fencing_token)
        acting.flush(owner, 2, batch(numbers(1), page=1))
        ledger = seed.rows("SELECT batch_no, epoch, fencing_token FROM task_batches ORDER BY batch_no")
        assert [tuple(row.values()) for row in ledger] == [(1, 1, 1), (2, 2, 2)]
        sound()


class TestCheckpoint:
    @pytest.mark.parametrize(("page", "processed"), [(1, 200), (2, 199), (3, 199), (1, 300)])
    def test_it_never_moves_back(self, acting: Acting, seed: Seed, page: int, processed: int) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=2, processed=200, token="after-2"))
        before = everything(seed)
        with pytest.raises(CheckpointRegression) as refused:
            acting.flush(crawl.owner, 2, batch(numbers(5), page=page, processed=processed))
        assert refused.value.members == {"current_page": 2, "processed_count": 200, "last_cursor_token": "after-2"}
        assert everything(seed) == before

    def test_it_may_stay(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=2, processed=200))
        clock.advance(seconds=5)
        acting.flush(crawl.owner, 2, batch(numbers(1, start=1), page=2, processed=200))
        task = seed.row("crawl_tasks", task_id=crawl.task_id)
        assert (task["last_batch_no"], task["current_page"], task["progress_at"]) == (2, 2, START)

    def test_a_total_may_shrink_and_the_largest_is_kept(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=1, total=900))
        acting.flush(crawl.owner, 2, batch(numbers(1), page=2, total=800))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["total_discovered_count"] == 900

    def test_part_of_a_page_leaves_the_attempts(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed, attempts=2, current_page=4, acquired_page=4, progress_page=4)
        acting.flush(crawl.owner, 1, batch(numbers(1), page=4))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["attempts"] == 2
        acting.flush(crawl.owner, 2, batch(numbers(1), page=5))
        assert seed.row("crawl_tasks", task_id=crawl.task_id)["attempts"] == 0


class TestCatalogue:
    def test_unchanged_ones_are_only_marked_as_seen(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(2)))
        stored = seed.rows("SELECT * FROM listings ORDER BY listing_ref")
        clock.advance(seconds=10)
        answer = acting.flush(again(seed, crawl).owner, 1, batch([*numbers(1), listing("ref-00001", "changed")]))
        assert (answer.appeared, answer.changed, answer.unchanged) == (0, 1, 1)
        unchanged, changed = seed.rows("SELECT * FROM listings ORDER BY listing_ref")
        assert unchanged == stored[0] | {"last_seen_crawl_no": 2}
        assert (changed["title"], changed["changed_at"], changed["first_seen_at"]) == ("changed", clock.now, START)
        assert changed["last_seen_crawl_no"] == 2

    def test_equal_prices_are_no_change(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a", price="9.9")]))
        assert acting.flush(crawl.owner, 2, batch([listing("a", price="9.9000")], page=2)).unchanged == 1

    def test_another_recipe_of_the_hash_is_no_change(
        self, acting: Acting, seed: Seed, clock: Clock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(1)))
        clock.advance(seconds=10)
        monkeypatch.setattr(catalogue, "content_hash", lambda _: bytes([2]) + bytes(32))
        answer = acting.flush(again(seed, crawl).owner, 1, batch(numbers(1, "as the new recipe reads it")))
        assert (answer.changed, answer.unchanged) == (0, 1)
        row = seed.row("listings")
        assert (row["title"], row["content_hash"][0]) == ("as the new recipe reads it", 2)
        assert (row["changed_at"], row["last_seen_crawl_no"]) == (START, 2)
        assert seed.count("listing_changes") == 0

    def test_a_delisted_one_comes_back(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(2)))
        seed.update("listings", {"listing_ref": "ref-00000"}, delisted_at=clock.now)
        answer = acting.flush(again(seed, crawl).owner, 1, batch(numbers(2)))
        assert (answer.appeared, answer.unchanged) == (1, 1)
        row = seed.row("listings", listing_ref="ref-00000")
        assert (row["delisted_at"], row["last_seen_crawl_no"]) == (None, 2)
        change = seed.row("listing_changes")
        assert (change["kind"], change["listing_ref"], change["old"]) == ("appeared", "ref-00000", None)

    def test_a_first_crawl_tells_nothing_that_appeared(self, acting: Acting, seed: Seed) -> None:
        acting.flush(running(seed).owner, 1, batch(numbers(3)))
        assert seed.count("listing_changes") == 0

    def test_changes_hold_old_and_new(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch([listing("a", "old", "1", attributes={"n": 1})]))
        second = again(seed, crawl)
        clock.advance(seconds=10)
        acting.flush(second.owner, 1, batch([listing("a", "new", "2.5", attributes={"n": 1}), listing("b")]))
        changed, appeared = seed.rows("SELECT * FROM listing_changes ORDER BY listing_ref")
        assert (changed["kind"], appeared["kind"]) == ("changed", "appeared")
        old, new = json.loads(changed["old"]), json.loads(changed["new"])
        assert old == new | {"title": "old", "price": "1.0000"}
        assert (new["title"], new["price"], new["title_cut"], new["attributes"]) == ("new", "2.5000", False, {"n": 1})
        assert appeared["old"] is None
        assert json.loads(appeared["new"])["title"] == "A thing"
        assert (changed["account_id"], changed["task_id"], changed["batch_no"]) == (crawl.account_id, second.task_id, 1)
        assert (changed["recorded_at"], changed["feed_position"]) == (clock.now, None)

    def test_a_page_read_again_is_not_counted_again(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(3), page=1))
        answer = acting.flush(crawl.owner, 2, batch(numbers(3), page=1, processed=3))
        assert (answer.appeared, answer.unchanged) == (0, 3)
        assert seed.count("listings") == 3

    def test_accounts_do_not_mix(self, acting: Acting, seed: Seed) -> None:
        first, second = running(seed, "server-a"), running(seed, "server-b")
        acting.flush(first.owner, 1, batch(numbers(2)))
        assert acting.flush(second.owner, 1, batch(numbers(2, "other"))).appeared == 2
        assert seed.count("listings", account_id=first.account_id, title="A thing") == 2


class TestRefusedWholly:
    def test_too_many_listings_name_the_field(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        before = everything(seed)
        with pytest.raises(InvalidInput) as refused:
            acting.flush(crawl.owner, 1, batch(numbers(DEFAULT.max_batch_records + 1)))
        assert "500" in refused.value.members["errors"]["listings"]
        assert everything(seed) == before
        assert acting.flush(crawl.owner, 1, batch(numbers(DEFAULT.max_batch_records))).appeared == 500

    @pytest.mark.parametrize(
        ("member", "value"), [("currency", "USD\n"), ("currency", "usd"), ("cursor_format", "rést/1")]
    )
    def test_what_no_column_could_hold_does_not_even_decode(self, member: str, value: str) -> None:
        body = msgspec.to_builtins(batch([listing("a", currency="USD")]))
        (body if member in body else body["listings"][0])[member] = value
        with pytest.raises(msgspec.ValidationError, match=member):
            msgspec.json.decode(msgspec.json.encode(body), type=Batch)

    @pytest.mark.parametrize("after", ["60", "60.5"])
    def test_an_owner_whose_lease_has_ended(self, acting: Acting, seed: Seed, clock: Clock, after: str) -> None:
        crawl = running(seed)
        before = everything(seed)
        clock.advance(seconds=after)
        with pytest.raises(StaleTaskOwner):
            acting.flush(crawl.owner, 1, batch(numbers(1)))
        assert everything(seed) == before

    def test_but_not_one_microsecond_before(self, acting: Acting, seed: Seed, clock: Clock) -> None:
        crawl = running(seed)
        clock.advance(seconds="59.999999")
        acting.flush(crawl.owner, 1, batch(numbers(1)))

    def test_a_stale_owner_cannot_even_replay(self, acting: Acting, seed: Seed) -> None:
        crawl = running(seed)
        sent = batch(numbers(1))
        acting.flush(crawl.owner, 1, sent)
        seed.update("crawl_tasks", {"task_id": crawl.task_id}, fencing_token=2)
        with pytest.raises(StaleTaskOwner):
            acting.flush(crawl.owner, 1, sent)

    @pytest.mark.parametrize(
        "broken",
        ["batch_insert", "listing_upsert", "listing_mark_seen", "reject_insert", "change_insert", "task_advance"],
    )
    def test_a_batch_that_breaks_anywhere_leaves_no_trace(
        self, acting: Acting, seed: Seed, monkeypatch: pytest.MonkeyPatch, broken: str, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        acting.flush(crawl.owner, 1, batch(numbers(2)))
        second = again(seed, crawl)
        sent = batch([*numbers(1), listing("ref-00001", "changed"), listing("new")], rejects=[Reject(reason="no_id")])
        before = everything(seed)
        with monkeypatch.context() as patched:
            break_after(patched, broken)
            with pytest.raises(DiedHereError):
                acting.flush(second.owner, 1, sent)
        assert everything(seed) == before
        assert acting.flush(second.owner, 1, sent).appeared == 1
        sound()


class DiedHereError(Exception):
    """The process dies here."""


def break_after(monkeypatch: pytest.MonkeyPatch, query: str) -> None:
    """Let the code break right after the statement of that name."""

    def breaking(real: Callable[..., int]) -> Callable[..., int]:
        def run(self: Transaction, name: str, /, *arguments: Any, **parameters: Any) -> int:
            done = real(self, name, *arguments, **parameters)
            if name == query:
                raise DiedHereError(name)
            return done

        return run

    monkeypatch.setattr(Transaction, "execute", breaking(Transaction.execute))
    monkeypatch.setattr(Transaction, "many", breaking(Transaction.many))


def test_a_flush_takes_few_statements_however_many_rows(
    acting: Acting, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = running(seed)
    acting.flush(crawl.owner, 1, batch(numbers(100)))
    mixed = [*numbers(50), *numbers(50, "changed", start=50), *numbers(50, start=100)]
    taken: list[str] = []
    real = DictCursor.execute
    monkeypatch.setattr(DictCursor, "execute", lambda *arguments: taken.append(arguments[1]) or real(*arguments))
    acting.flush(crawl.owner, 2, batch(mixed, page=2, processed=250))
    assert len(taken) <= 10, taken
    taken.clear()
    acting.flush(crawl.owner, 3, batch(mixed, page=3, processed=400))
    assert len(taken) <= 7, taken


class TestTwoAtOnce:
    def flush_twice(
        self, acting: Acting, crawl: Running, holder: Connection, watcher: Connection, one: Batch, other: Batch
    ) -> list[object]:
        """Two flushes of batch 1 that both wait for the task."""
        with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
            futures = [in_thread(lambda sent=sent: acting.flush(crawl.owner, 1, sent)) for sent in (one, other)]
            until_lock_waits(watcher, 2)
        return [future.exception(20) or future.result() for future in futures]

    def test_the_same_batch_is_applied_once(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        sent = batch(numbers(5))
        answers = self.flush_twice(acting, crawl, holder, watcher, sent, sent)
        assert sorted(answer.replayed for answer in answers) == [False, True]  # type: ignore[attr-defined]
        assert seed.count("task_batches") == 1
        sound()

    def test_of_two_batches_with_one_number_one_is_applied(
        self, acting: Acting, seed: Seed, holder: Connection, watcher: Connection, sound: Callable[[], None]
    ) -> None:
        crawl = running(seed)
        answers = self.flush_twice(acting, crawl, holder, watcher, batch(numbers(5)), batch(numbers(5, "other")))
        assert sorted(isinstance(answer, Problem) for answer in answers) == [False, True]
        assert len(seed.rows("SELECT DISTINCT title FROM listings")) == 1
        sound()


def test_a_flush_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    before = everything(seed)
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.flush(crawl.owner, 1, batch(numbers(3))))
        until_lock_waits(watcher)
        until_passed(watcher, seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"])
    assert isinstance(answer.exception(10), StaleTaskOwner)
    assert everything(seed) == before
