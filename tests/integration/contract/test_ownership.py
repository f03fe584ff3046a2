"""Section 8: what a stale worker says changes nothing; prepared statements, unique guards, CAS of completion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.daemon import Daemon, Held
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import INTEGRITY, OWNERSHIP, P1
from tests.integration.seed import Seed
from tests.integration.served.server import Answer
from tests.integration.waits import together

CALLS: dict[str, Callable[[Daemon, Held], Answer]] = {
    "heartbeat": lambda daemon, held: daemon.beat(held, 9, 90),
    "flush": lambda daemon, held: daemon.flush(held, 2, ["stale"], page=9, processed=90),
    "complete": lambda daemon, held: daemon.complete(held, 1, 1),
    "fail": lambda daemon, held: daemon.fail(held),
    "release": lambda daemon, held: daemon.release(held),
}


@pytest.mark.parametrize("call", CALLS)
@proves(OWNERSHIP)
def test_a_worker_whose_task_was_reassigned_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed, call: str
) -> None:
    waiting()
    stale, owner = daemon_of("server-1", "bazaar"), daemon_of("server-2", "bazaar")
    held = stale.take()
    stale.flush(held, 1, ["a"])
    clock.advance(seconds=60)
    stale.show_life()
    owner.take()
    before = seed.row("crawl_tasks", task_id=held.task_id)
    assert refusal(CALLS[call](stale, held)) == (409, "stale_task_owner")
    assert seed.row("crawl_tasks", task_id=held.task_id) == before
    assert seed.count("listings", listing_ref="stale") == 0


@pytest.mark.parametrize("call", CALLS)
@proves(OWNERSHIP)
def test_a_former_boot_of_the_same_server_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, call: str
) -> None:
    waiting()
    former = daemon_of("server-1", "bazaar")
    held = former.take()
    former.flush(held, 1, ["a"])
    latter = former.restart("bazaar")
    assert latter.take().fencing_token == 2
    answer = CALLS[call](former, held)
    assert refusal(answer)[0] == 409
    assert refusal(answer)[1] in ("stale_task_owner", "boot_superseded")


@proves(OWNERSHIP)
def test_a_former_boot_cannot_lead(daemon_of: Daemons, clock: Clock) -> None:
    former = daemon_of("server-1")
    token = former.lead()
    latter = former.restart()
    assert latter.lead() == token + 1
    assert refusal(former.campaign()) == (409, "boot_superseded")
    assert refusal(former.keep_house(token)) == (409, "stale_fencing_token")


@proves(P1)
def test_a_completion_happens_once_and_is_answered_alike(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    answers = together(*(lambda: daemon.complete(held, 1, 1) for _ in range(8)))
    assert {(answer.status, answer.body) for answer in answers} == {(200, answers[0].body)}
    assert seed.count("task_events", task_id=held.task_id, kind="completed") == 1
    assert seed.row("accounts", account_id=held.grant["account"]["account_id"])["crawl_no"] == 1


@pytest.mark.parametrize("different", [{"enumeration": "guessed"}, {"processed": 2}, {"last_batch": 2}])
@proves(P1)
def test_a_different_completion_is_refused(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, different: dict[str, Any]
) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    daemon.flush(held, 1, ["a"])
    daemon.complete(held, 1, 1)
    repeated = {"last_batch": 1, "processed": 1} | different
    assert refusal(daemon.complete(held, **repeated)) == (409, "completion_conflict")


@proves(INTEGRITY)
def test_sql_in_a_value_is_a_value(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    held = daemon.take()
    hostile = ["'); DROP TABLE listings; -- ", '" OR ""="', "\\", "%s %(name)s", "\u0000 \U0001f600 \u202e"]
    listings = [{"listing_ref": f"ref-{number}", "title": text} for number, text in enumerate(hostile)]
    answer = daemon.flush(held, 1, listings=listings, processed=len(hostile))
    assert (answer.status, answer.document["appeared"]) == (201, len(hostile))
    stored = seed.rows("SELECT title FROM listings ORDER BY listing_ref")
    assert [row["title"] for row in stored] == hostile


@proves(INTEGRITY)
def test_servers_that_acquire_at_once_get_different_tasks(
    daemon_of: Daemons, waiting: Callable[..., int], clock: Clock
) -> None:
    for _ in range(6):
        waiting()
    daemons = [daemon_of(f"server-{number}", "bazaar") for number in range(6)]
    taken = together(*(daemon.take for daemon in daemons))
    assert len({held.task_id for held in taken}) == 6
