"""Section 4: long crawls as a stream of pages, persisted by batches that are atomic and idempotent."""

from __future__ import annotations

from collections.abc import Callable

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import ATOMIC, FLUSH_SIZE, PERIODIC, STREAM
from tests.integration.seed import Seed
from tests.integration.waits import together


@proves(STREAM)
def test_a_task_runs_for_hours(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    for page in range(1, 31):
        for _ in range(20):
            clock.advance(seconds=20)
            assert daemon.beat(held, page - 1, page - 1).status == 200
        assert daemon.flush(held, page, [f"ref-{page}"]).status == 201
    assert daemon.complete(held, 30, 30).document["state"] == "completed"
    task = seed.row("crawl_tasks", task_id=held.task_id)
    assert (task["fencing_token"], (task["ended_at"] - task["acquired_at"]).total_seconds()) == (1, 12_000)


@proves(FLUSH_SIZE)
def test_a_batch_of_100_is_durable_when_it_is_answered(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    assert daemon.client.get("/policy").document["policy"]["flush_records"] == 100
    held = daemon.take()
    answer = daemon.flush(held, 1, [f"ref-{number:03}" for number in range(100)])
    assert (answer.status, answer.document["appeared"]) == (201, 100)
    assert seed.count("listings") == 100
    assert seed.row("crawl_tasks", task_id=held.task_id)["processed_count"] == 100


@proves(ATOMIC)
def test_a_repeated_batch_is_answered_alike_and_has_no_effect(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    first = daemon.flush(held, 1, ["a", "b"])
    stored = seed.rows("SELECT * FROM listings ORDER BY listing_ref")
    clock.advance(seconds=10)
    again = daemon.flush(held, 1, ["a", "b"])
    assert (first.status, again.status, again.document["replayed"]) == (201, 200, True)
    assert again.document["appeared"] == first.document["appeared"] == 2
    assert seed.rows("SELECT * FROM listings ORDER BY listing_ref") == stored
    assert seed.count("task_batches") == 1


@proves(ATOMIC)
def test_the_same_batch_sent_many_times_at_once_takes_effect_once(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    answers = together(*(lambda: daemon.flush(held, 1, ["a", "b"]) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [201]
    assert (seed.count("task_batches"), seed.count("listings")) == (1, 2)


@proves(ATOMIC)
def test_a_batch_with_one_bad_record_stores_nothing(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    bad = [{"listing_ref": "a", "title": "good"}, {"listing_ref": "b", "title": "bad", "price": "free"}]
    answer = daemon.flush(held, 1, listings=bad)
    assert answer.status == 422
    assert "listings[1].price" in answer.body.decode() or "listings[...].price" in answer.body.decode()
    assert seed.count("listings") == seed.count("task_batches") == 0
    assert seed.row("crawl_tasks", task_id=held.task_id)["last_batch_no"] == 0


@proves(PERIODIC)
def test_a_batch_beyond_its_bound_is_refused(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    many = daemon.flush(held, 1, [f"ref-{number}" for number in range(501)])
    assert refusal(many) == (422, "invalid_input")
    assert "at most 500" in many.document["errors"]["listings"]
