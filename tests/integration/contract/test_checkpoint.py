"""Section 5: heartbeats, the monotonic checkpoint, and resuming from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import HEARTBEAT, MONOTONIC, P0, RESUME, STALE_HEARTBEAT
from tests.integration.seed import Seed

COUNTERS = ("current_page", "last_cursor_token", "processed_count", "total_discovered_count")
BEHIND: list[dict[str, Any]] = [{"page": 1}, {"processed": 5}, {"page": 1, "processed": 5}]


@proves(HEARTBEAT)
def test_a_heartbeat_carries_progress_and_keeps_the_lease(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    assert daemon.client.get("/policy").document["policy"]["task_heartbeat_seconds"] == 20
    held = daemon.take()
    for beat in range(1, 7):
        clock.advance(seconds=20)
        answer = daemon.beat(held, beat, beat * 100, total_discovered_count=900).document
        assert [answer[name] for name in COUNTERS] == [beat, f"cursor-{beat}", beat * 100, 900]
        assert answer["lease_remaining_seconds"] == 60
    clock.advance(seconds=60)
    assert refusal(daemon.beat(held, 7, 700)) == (409, "stale_task_owner")


@pytest.mark.parametrize("missing", ["server_id", "boot_id", "fencing_token", *COUNTERS])
@proves(HEARTBEAT)
def test_a_heartbeat_without_a_field_is_refused_by_name(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, missing: str
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    body = {"server_id": "server-1", "boot_id": daemon.boot_id, "fencing_token": held.fencing_token}
    body |= {"current_page": 0, "last_cursor_token": None, "processed_count": 0, "total_discovered_count": None}
    del body[missing]
    answer = daemon.client.post(f"/tasks/{held.task_id}/heartbeat", body)
    assert refusal(answer) == (422, "invalid_input")
    assert list(answer.document["errors"]) == [missing]


@pytest.mark.parametrize("behind", BEHIND)
@proves(MONOTONIC)
def test_a_batch_behind_the_checkpoint_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, behind: dict[str, int]
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"], page=2, processed=10, total_discovered_count=50)
    reached = seed.row("crawl_tasks", task_id=held.task_id)
    answer = daemon.flush(held, 2, ["b"], **({"page": 3, "processed": 20} | behind))
    assert refusal(answer) == (409, "checkpoint_regression")
    assert seed.row("crawl_tasks", task_id=held.task_id) == reached
    assert seed.count("listings") == 1


@proves(MONOTONIC)
def test_a_shrinking_total_keeps_the_largest(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"], total_discovered_count=50)
    assert daemon.flush(held, 2, ["b"], total_discovered_count=40).status == 201
    assert seed.row("crawl_tasks", task_id=held.task_id)["total_discovered_count"] == 50


@pytest.mark.parametrize("behind", BEHIND)
@proves(STALE_HEARTBEAT)
def test_a_stale_heartbeat_counts_as_life_only(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, behind: dict[str, int]
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.beat(held, 2, 10)
    clock.advance(seconds=30)
    answer = daemon.beat(held, **({"page": 2, "processed": 10} | behind)).document
    assert answer["progress"] == "stale"
    assert (answer["current_page"], answer["processed_count"], answer["last_cursor_token"]) == (2, 10, "cursor-2")
    assert answer["lease_remaining_seconds"] == 60


@proves(RESUME)
def test_another_server_resumes_where_batches_were_durable(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    waiting()
    lost, heir = daemon_of("server-1", "bazaar"), daemon_of("server-2", "bazaar")
    held = lost.take()
    lost.flush(held, 1, ["a", "b"], total_discovered_count=9)
    lost.beat(held, 7, 70)
    clock.advance(seconds=60)
    grant = heir.take().grant
    assert (grant["task_id"], grant["fencing_token"], grant["last_batch_no"]) == (held.task_id, 2, 1)
    assert grant["checkpoint"] == {
        "epoch": 1,
        "current_page": 1,
        "last_cursor_token": "cursor-1",
        "processed_count": 2,
        "total_discovered_count": 9,
    }


@proves(RESUME)
def test_a_retry_resumes_after_its_backoff(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    assert daemon.fail(held).document["state"] == "delayed"
    assert daemon.acquire().status == 204
    eligible_at = seed.row("crawl_tasks", task_id=held.task_id)["eligible_at"]
    clock.set(eligible_at)
    again = daemon.take()
    assert (again.task_id, again.grant["checkpoint"]["current_page"]) == (held.task_id, 1)
    assert daemon.flush(again, 2, ["b"]).status == 201


@proves(P0)
def test_heartbeats_never_move_the_resume_checkpoint(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    for page in (5, 3, 9):
        daemon.beat(held, page, page * 10)
    task = seed.row("crawl_tasks", task_id=held.task_id)
    assert (task["current_page"], task["processed_count"]) == (1, 1)
    assert (task["progress_page"], task["progress_processed_count"]) == (9, 90)
