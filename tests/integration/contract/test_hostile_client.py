"""A client that holds a good key and lies: about numbers, about what is done, about whose the task is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.daemon import Held
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import ATOMIC, HEARTBEAT, MANDATORY, OWNERSHIP
from tests.integration.seed import Seed
from tests.integration.waits import together

STATES = "SELECT state, fencing_token, last_batch_no, processed_count, attempts FROM crawl_tasks"


@pytest.mark.parametrize("batch_no", [2, 3, 1000])
@proves(ATOMIC)
def test_a_gap_in_numbering_is_refused_and_says_what_is_expected(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, batch_no: int
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    answer = daemon.flush(held, batch_no, ["a"])
    assert refusal(answer) == (409, "batch_gap")
    assert answer.document["expected_batch_no"] == 1
    assert seed.count("listings") == 0


@proves(ATOMIC)
def test_other_content_under_a_used_number_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    assert refusal(daemon.flush(held, 1, ["b"])) == (409, "batch_conflict")
    assert [row["listing_ref"] for row in seed.rows("SELECT listing_ref FROM listings")] == ["a"]


@pytest.mark.parametrize("said", [{"last_batch": 2}, {"processed": 5}, {"last_batch": 0, "processed": 0}])
@proves(MANDATORY)
def test_a_completion_with_batches_missing_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, said: dict[str, int]
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    answer = daemon.complete(held, **({"last_batch": 1, "processed": 1} | said))
    assert refusal(answer) == (409, "batches_missing")
    assert seed.row("crawl_tasks", task_id=held.task_id)["state"] == "running"


@pytest.mark.parametrize("verb", ["beat", "flush", "complete", "fail", "release"])
@proves(OWNERSHIP)
def test_another_servers_task_is_out_of_reach(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, verb: str
) -> None:
    waiting()
    owner, thief = daemon_of("server-1", "bazaar"), daemon_of("server-2", "bazaar")
    held = owner.take()
    before = seed.rows(STATES)
    arguments: dict[str, Any] = {"flush": {"batch_no": 1}, "complete": {"last_batch": 0, "processed": 0}}.get(verb, {})
    as_itself = getattr(thief, verb)(held, **arguments)
    as_the_owner = getattr(thief, verb)(held, **arguments, server_id="server-1", boot_id=owner.boot_id)
    assert refusal(as_itself) == (409, "stale_task_owner")
    assert refusal(as_the_owner) == (403, "forbidden")
    assert seed.rows(STATES) == before


@pytest.mark.parametrize("token", [0, 2, 2**63 - 1])
@proves(OWNERSHIP)
def test_a_token_that_was_never_given_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, token: int
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    answer = daemon.beat(Held(held.task_id, token, held.grant))
    assert refusal(answer) in ((409, "stale_task_owner"), (422, "invalid_input"))
    assert refusal(daemon.keep_house(token))[0] in (409, 422)


@proves(HEARTBEAT)
def test_a_boot_that_never_registered_gets_nothing(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    daemon.boot_id = "00000000-0000-4000-8000-000000000000"
    assert refusal(daemon.acquire()) == (409, "boot_superseded")
    assert refusal(daemon.show_life()) == (409, "boot_superseded")
    assert refusal(daemon.campaign()) == (409, "boot_superseded")
    assert seed.count("crawl_tasks", state="running") == 0


@proves(MANDATORY)
def test_a_boot_that_comes_back_takes_its_turn_and_not_its_tasks(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    former = daemon_of("server-1", "bazaar")
    held = former.take()
    latter = former.restart("bazaar")
    latter.take()
    again = former.register("bazaar")
    assert refusal(again) == (409, "boot_superseded")
    assert refusal(former.flush(held, 1, ["a"]))[0] == 409
    assert seed.row("crawl_tasks", task_id=held.task_id)["boot_id"].hex() == latter.boot_id.replace("-", "")


@proves(MANDATORY)
def test_old_and_repeated_numbers_of_acquire_take_no_second_task(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    for _ in range(3):
        waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    answers = together(*(lambda: daemon.acquire(1) for _ in range(6)))
    assert {answer.document["task_id"] for answer in answers} == {held.task_id}
    daemon.acquire(2)
    assert refusal(daemon.acquire(1)) == (409, "stale_request")
    assert seed.count("crawl_tasks", state="running") == 1


@proves(MANDATORY)
def test_who_crawls_on_after_a_cancellation_writes_nothing(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    seed.update("crawl_tasks", {"task_id": held.task_id}, cancel_requested=True)
    assert daemon.beat(held).document["cancel"] is True
    assert daemon.release(held).document["state"] == "cancelled"
    assert refusal(daemon.flush(held, 1, ["a"])) == (409, "stale_task_owner")
    assert refusal(daemon.complete(held, 0, 0)) == (409, "stale_task_owner")
    assert seed.count("listings") == 0


@proves(MANDATORY)
def test_failures_without_progress_are_not_repeated_for_ever(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    states = []
    for _ in range(5):
        held = daemon.take()
        states.append(daemon.fail(held).document["state"])
        eligible_at = seed.row("crawl_tasks", task_id=held.task_id)["eligible_at"]
        clock.set(eligible_at or clock.now)
        daemon.show_life()
    assert states == ["delayed"] * 4 + ["failed"]
    assert seed.count("server_slots", task_id=held.task_id) == 0
