"""Every rule about the history finds the history that breaks it, and nothing in a sound one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.invariants import durability, succession
from tests.invariants.durability import Stored
from tests.invariants.exchange import Exchange, Recorder, answered, nonce_of, read, spoken

FENCED = {"server_id": "a", "boot_id": "1"}


def exchange(began: float, path: str, method: str = "POST", **members: Any) -> Exchange:
    made = {"side": "coordinator", "ended": began + 1, "status": 200} | members
    return Exchange(began=began, path=path, method=method, **made)


def plan(began: float, token: int, **members: Any) -> Exchange:
    return exchange(began, "/plan", said={"fencing_token": token}, **members)


def elected(began: float, token: int) -> Exchange:
    return exchange(began, "/leadership/campaign", answer={"elected": True, "fencing_token": token})


def acquired(began: float, token: int, server_id: str = "a") -> Exchange:
    said = {"server_id": server_id, "boot_id": "1"}
    return exchange(began, "/tasks/acquire", said=said, answer={"task_id": 7, "fencing_token": token})


def batch(began: float, number: int = 1, token: int = 1, **members: Any) -> Exchange:
    said = {"fencing_token": token, "listings": ["x"]}
    made = {"said": said, "status": 201, "digest": "d1"} | members
    return exchange(began, f"/tasks/7/batches/{number}", "PUT", **made)


class Known(Stored):
    """A database of one task, without a database."""

    def __init__(self) -> None:
        self.states = {7: "completed"}
        self.accounts = {7: 3}

    def digests(self) -> dict[tuple[int, int], str]:
        return {(7, 1): "d1"}

    def listings(self) -> set[tuple[int, str]]:
        return {(3, "x")}


class TestSuccession:
    def test_a_sound_history(self) -> None:
        history = [elected(0, 1), plan(2, 1), elected(4, 2), plan(6, 2), acquired(0, 1), batch(2), acquired(4, 2)]
        assert succession.check(history) == []

    def test_a_plan_that_was_under_way_when_the_next_term_began(self) -> None:
        assert succession.check([plan(3, 1, ended=9.0), elected(4, 2)]) == []

    def test_a_plan_of_a_term_that_had_been_followed(self) -> None:
        (found,) = succession.check([elected(0, 1), elected(2, 2), plan(4, 1)])
        assert found.startswith("I2: POST /plan by term 1")

    def test_a_refused_plan_of_such_a_term(self) -> None:
        assert succession.check([elected(2, 2), plan(4, 1, status=409)]) == []

    def test_a_batch_of_an_owner_that_had_been_followed(self) -> None:
        (found,) = succession.check([acquired(0, 1), acquired(2, 2), batch(4)])
        assert found.startswith("I6: PUT /tasks/7/batches/1 by owner 1")

    def test_a_grant_to_two(self) -> None:
        (found,) = succession.check([acquired(0, 1, "a"), acquired(0, 1, "b")])
        assert found.startswith("I4: task 7 by token 1 was given to")


class TestDurability:
    def test_what_was_acknowledged_and_is_there(self) -> None:
        assert list(durability._batches([batch(0)], Known())) == []

    def test_a_batch_that_is_not_there(self) -> None:
        (found,) = durability._batches([batch(0, digest="d2")], Known())
        assert "was acknowledged, and the ledger says d1" in found

    def test_listings_that_are_not_there(self) -> None:
        (found,) = durability._batches([batch(0, said={"listings": ["x", "y"]})], Known())
        assert "its listings ['y'] are not there" in found

    def test_a_batch_that_nobody_heard_of(self) -> None:
        assert list(durability._batches([batch(0, status=503, digest="d2")], Known())) == []

    def test_a_batch_that_was_applied_twice(self) -> None:
        assert list(durability._twice([batch(0), batch(2, status=200)])) == []
        (found,) = durability._twice([batch(0), batch(2)])
        assert found == "I8: /tasks/7/batches/1 was applied 2 times"

    def test_completions_that_were_answered_differently(self) -> None:
        path = "/tasks/7/complete"
        answers = [exchange(0, path, answer={"state": "completed"}), exchange(2, path, answer={"state": "cancelled"})]
        assert list(durability._completions(answers[:1] * 2, Known())) == []
        assert "was answered by ['cancelled', 'completed']" in next(durability._completions(answers, Known()))

    def test_a_completion_that_is_not_there(self) -> None:
        answers = [exchange(0, "/tasks/7/complete", answer={"state": "cancelled"})]
        assert "was answered by cancelled, now it is completed" in next(durability._completions(answers, Known()))

    def test_a_nonce_that_was_taken_twice(self) -> None:
        once = exchange(0, "/policy", "GET", nonce="k n")
        assert list(durability._signatures([once, exchange(1, "/policy", nonce="k n", status=401)])) == []
        assert list(durability._signatures([once, once])) == ["I10: the nonce k n was accepted 2 times"]


class TestRecorder:
    def test_what_is_written_is_read(self, tmp_path: Path) -> None:
        recorder, sent = Recorder(tmp_path, "client"), batch(0)
        recorder.record(sent)
        with (tmp_path / f"client-{os.getpid()}.jsonl").open("ab") as file:
            file.write(b'{"torn')
        assert list(read(tmp_path)) == [sent]

    def test_secrets_are_left_out(self) -> None:
        said, digest = spoken(b'{"a": 1, "listings": [{"listing_ref": "x", "title": "t"}], "values": {"token": "s"}}')
        assert said == {"a": 1, "listings": ["x"]}
        assert len(digest) == 64
        assert answered(b'{"task_id": 1, "credentials": {"values": {}}}') == {"task_id": 1}
        assert answered(b"<html>") == {}

    def test_the_nonce_of_a_signature(self) -> None:
        value = 'sig1=("@method");created=1;keyid="k";alg="hmac-sha256";nonce="n";tag="t"'
        assert nonce_of({"HTTP_SIGNATURE_INPUT": value}) == '"k" "n"'
