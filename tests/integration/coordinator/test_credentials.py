"""Credentials: sealed at rest, and replaced by the owner of the account's task only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coordinator import credentials
from shared.problems import CredentialsConflict, InvalidInput, StaleTaskOwner
from tests.integration.clock import Clock
from tests.integration.coordinator.acting import VAULT, Acting, Running, running
from tests.integration.seed import Seed
from tests.integration.waits import Connection, held, in_thread, until_lock_waits, until_passed

OLD, NEW = {"refresh_token": "old-secret"}, {"refresh_token": "new-secret"}


def give(seed: Seed, account_id: int, values: dict[str, str], version: int = 3) -> None:
    sealed = credentials.seal(VAULT, account_id, values)
    seed.insert(
        "account_credentials",
        account_id=account_id,
        version=version,
        encryption_version=sealed.version,
        secret_nonce=sealed.nonce,
        secret_sealed=sealed.ciphertext,
        updated_at=seed.now(),
    )


def stored(seed: Seed, account_id: int) -> tuple[int, dict[str, Any]]:
    row = seed.row("account_credentials", account_id=account_id)
    return row["version"], credentials.opened(VAULT, account_id, row)


@pytest.fixture
def crawl(seed: Seed, clock: Clock) -> Running:
    made = running(seed)
    give(seed, made.account_id, OLD)
    return made


class TestReplaced:
    def test_the_next_version_is_sealed(self, acting: Acting, seed: Seed, clock: Clock, crawl: Running) -> None:
        clock.advance(seconds=10)
        assert acting.rotate(crawl.owner, 3, NEW) == 4
        assert stored(seed, crawl.account_id) == (4, NEW)
        row = seed.row("account_credentials")
        assert row["updated_at"] == clock.now
        assert b"new-secret" not in row["secret_sealed"]

    def test_its_owner_hears_of_the_version(self, acting: Acting, crawl: Running) -> None:
        acting.rotate(crawl.owner, 3, NEW)
        assert acting.heartbeat(crawl.owner).credentials_version == 4

    def test_the_same_again_is_answered_alike(self, acting: Acting, seed: Seed, crawl: Running) -> None:
        acting.rotate(crawl.owner, 3, NEW)
        assert acting.rotate(crawl.owner, 3, NEW) == 4
        assert stored(seed, crawl.account_id) == (4, NEW)

    def test_a_suspended_account_may_run_again(self, acting: Acting, seed: Seed, crawl: Running) -> None:
        seed.update("accounts", {"account_id": crawl.account_id}, suspended_at=seed.now())
        acting.rotate(crawl.owner, 3, NEW)
        account = seed.row("accounts", account_id=crawl.account_id)
        assert (account["suspended_at"], account["row_version"]) == (None, 2)


class TestRefused:
    @pytest.mark.parametrize("version", [1, 2, 4])
    def test_another_version(self, acting: Acting, seed: Seed, crawl: Running, version: int) -> None:
        with pytest.raises(CredentialsConflict) as refused:
            acting.rotate(crawl.owner, version, NEW)
        assert refused.value.members == {"version": 3}
        assert stored(seed, crawl.account_id) == (3, OLD)

    def test_an_account_without_credentials(self, acting: Acting, seed: Seed) -> None:
        with pytest.raises(CredentialsConflict):
            acting.rotate(running(seed).owner, 1, NEW)
        assert seed.count("account_credentials") == 0

    def test_more_than_fits(self, acting: Acting, seed: Seed, crawl: Running) -> None:
        with pytest.raises(InvalidInput) as refused:
            acting.rotate(crawl.owner, 3, {"a": "x" * 8192, "b": "x" * 8192})
        assert "values" in refused.value.members["errors"]
        assert stored(seed, crawl.account_id) == (3, OLD)

    def test_a_stale_owner(self, acting: Acting, seed: Seed, crawl: Running) -> None:
        with pytest.raises(StaleTaskOwner):
            acting.rotate(replace(crawl.owner, fencing_token=2), 3, NEW)
        assert stored(seed, crawl.account_id) == (3, OLD)

    def test_an_owner_whose_lease_has_ended(self, acting: Acting, seed: Seed, clock: Clock, crawl: Running) -> None:
        clock.advance(seconds=60)
        with pytest.raises(StaleTaskOwner):
            acting.rotate(crawl.owner, 3, NEW)


def test_what_others_wrote_while_it_waited_is_not_overwritten(
    acting: Acting, seed: Seed, crawl: Running, holder: Connection, watcher: Connection
) -> None:
    change = "UPDATE account_credentials SET version = 4 WHERE account_id = %s"
    with held(holder, change, crawl.account_id):
        answer = in_thread(lambda: acting.rotate(crawl.owner, 3, NEW))
        until_lock_waits(watcher)
    assert isinstance(answer.exception(10), CredentialsConflict)
    assert stored(seed, crawl.account_id) == (4, OLD)


def test_a_rotation_that_waited_past_the_end_of_its_lease_comes_too_late(
    acting: Acting, seed: Seed, holder: Connection, watcher: Connection
) -> None:
    crawl = running(seed, lease_seconds=0.5)
    give(seed, crawl.account_id, OLD)
    with held(holder, "SELECT 1 FROM crawl_tasks WHERE task_id = %s FOR UPDATE", crawl.task_id):
        answer = in_thread(lambda: acting.rotate(crawl.owner, 3, NEW))
        until_lock_waits(watcher)
        until_passed(watcher, seed.row("crawl_tasks", task_id=crawl.task_id)["lease_expires_at"])
    assert isinstance(answer.exception(10), StaleTaskOwner)
    assert stored(seed, crawl.account_id) == (3, OLD)
