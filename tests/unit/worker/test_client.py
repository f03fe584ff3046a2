"""The worker's side of the protocol, against a scripted coordinator on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from structlog.testing import capture_logs

from shared import signing
from shared.problems import (
    BatchGap,
    DatabaseUnavailable,
    NonceReplayed,
    Problem,
    SignatureExpired,
    StaleTaskOwner,
    TooManyRequests,
    UnknownProblem,
)
from tests.unit.worker.scripted_server import Script, ScriptedServer, answer, raw
from worker.client import MAX_BACKOFF_SECONDS, Client, CoordinatorClock, CoordinatorUnreachableError, retry_after
from worker.connectors.origin import Origin
from worker.transport import Transport

SECRET = b"k" * 32
WALL = 1_700_000_000.0


def client_of(server: ScriptedServer, prefix: str = "") -> Client:
    transport = Transport(Origin.parse(f"{server.url}{prefix}"))
    return Client(transport, "server-1", SECRET, clock=CoordinatorClock(lambda: WALL))


def refusal(problem: Problem, headers: Sequence[str] = ()) -> Script:
    body = json.dumps(problem.to_document()).encode()
    return answer(problem.status, body, ["Content-Type: application/problem+json", *headers])


def claim_of(request: bytes, authority: str, secret: bytes = SECRET) -> signing.Claim:
    """The request's signature, verified as the coordinator does."""
    top, _, body = request.partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    method, target, _ = first.split(" ")
    headers = dict(line.split(": ", 1) for line in lines)
    claim = signing.parse(method, authority, target, headers)
    signing.verify(claim, secret, body)
    return claim


class Waits:
    """Notes how long was to be waited, and does not wait."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def test_a_request_is_signed_over_all_of_it() -> None:
    with ScriptedServer(answer()) as server:
        client_of(server, "/behind").call("POST", "/tasks/7/heartbeat?x=%20", {"server_id": "server-1"})
    assert server.requests[0].startswith(b"POST /behind/api/v1/tasks/7/heartbeat?x=%20 HTTP/1.1\r\n")
    claim = claim_of(server.requests[0], f"127.0.0.1:{server.port}")
    assert (claim.key_id, claim.created) == ("server-1", int(WALL))


def test_each_attempt_is_signed_afresh_with_the_same_body() -> None:
    waits = Waits()
    with ScriptedServer(raw(b""), refusal(DatabaseUnavailable()), answer(body=b'{"done": true}')) as server:
        found = client_of(server).persist("PUT", "/tasks/7/batches/1", b'{"a":1}', until=lambda: False, wait=waits)
        claims = [claim_of(request, f"127.0.0.1:{server.port}") for request in server.requests]
    assert found.document == {"done": True}
    assert len({claim.nonce for claim in claims}) == 3
    assert {request.partition(b"\r\n\r\n")[2] for request in server.requests} == {b'{"a":1}'}
    assert len(waits.seconds) == 2
    assert all(0 <= seconds <= MAX_BACKOFF_SECONDS for seconds in waits.seconds)


def test_a_clock_that_is_off_is_set_right_and_stays_so() -> None:
    now = datetime.fromtimestamp(WALL + 7200, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with ScriptedServer(refusal(SignatureExpired(now=now)), answer(), answer()) as server:
        client = client_of(server)
        client.call("GET", "/policy")
        client.call("GET", "/policy")
        created = [claim_of(request, f"127.0.0.1:{server.port}").created for request in server.requests]
    assert created == [int(WALL), int(WALL) + 7200, int(WALL) + 7200]


def test_a_clock_that_cannot_be_set_right_is_told() -> None:
    now = datetime.fromtimestamp(WALL, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    with ScriptedServer(refusal(SignatureExpired(now=now)), refusal(SignatureExpired(now=now))) as server:
        with pytest.raises(SignatureExpired):
            client_of(server).call("GET", "/policy")
        assert len(server.requests) == 2


def test_problems_come_back_as_they_were_raised() -> None:
    gap = BatchGap("Batch 3 comes next", expected_batch_no=3)
    with ScriptedServer(refusal(gap)) as server, pytest.raises(BatchGap, match="Batch 3 comes next") as caught:
        client_of(server).call("PUT", "/tasks/7/batches/9", {})
    assert caught.value.members == {"expected_batch_no": 3}


def test_a_code_of_a_later_version_is_a_problem_too() -> None:
    body = json.dumps({"status": 409, "code": "not_yet_invented", "detail": "No."}).encode()
    with ScriptedServer(answer(409, body)) as server, pytest.raises(UnknownProblem) as caught:
        client_of(server).call("GET", "/policy")
    assert caught.value.received_code == "not_yet_invented"


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(answer(200, b"<html>Welcome</html>"), id="a page with 200"),
        pytest.param(answer(200, b"[1, 2]"), id="no object"),
        pytest.param(answer(200, b'{"a":' + b"[" * 100_000), id="too deep"),
        pytest.param(answer(200, b""), id="nothing with 200"),
        pytest.param(answer(206, b"{}"), id="a part"),
        pytest.param(answer(302, b"", ["Location: /api/v1/policy"]), id="a redirect"),
        pytest.param(answer(413, b"<html>nginx</html>"), id="a front's refusal"),
        pytest.param(answer(502, b'{"message": "bad gateway"}'), id="no code"),
        pytest.param(refusal(Problem("broke")), id="500"),
        pytest.param(raw(b""), id="a lost answer"),
    ],
)
def test_what_the_coordinator_did_not_say_is_no_answer(script: Script) -> None:
    with ScriptedServer(script, answer()) as server, pytest.raises(CoordinatorUnreachableError):
        client_of(server).call("POST", "/tasks/acquire", {})
    assert len(server.requests) == 1


def test_retry_after_is_kept() -> None:
    waits = Waits()
    with ScriptedServer(refusal(TooManyRequests(), ["Retry-After: 8"]), answer()) as server:
        client_of(server).persist("GET", "/policy", until=lambda: False, wait=waits)
    assert len(waits.seconds) == 1
    assert 8 <= waits.seconds[0] <= MAX_BACKOFF_SECONDS


def test_an_absurd_retry_after_is_kept_within_bounds() -> None:
    waits = Waits()
    with ScriptedServer(refusal(TooManyRequests(), ["Retry-After: 3000"]), answer()) as server:
        client_of(server).persist("GET", "/policy", until=lambda: False, wait=waits)
    assert waits.seconds == [MAX_BACKOFF_SECONDS]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2", 2.0), ("0", 0.0), ("1.5", 1.5), ("-1", None), ("soon", None), ("nan", None), ("1e9", None)],
)
def test_retry_after_must_make_sense(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}) == seconds
    assert retry_after({}) is None


def test_a_request_that_a_proxy_repeated_is_signed_afresh_and_told() -> None:
    with ScriptedServer(refusal(NonceReplayed()), answer()) as server, capture_logs() as lines:
        client_of(server).persist("POST", "/tasks/7/complete", {}, until=lambda: False, wait=Waits())
        nonces = {claim_of(request, f"127.0.0.1:{server.port}").nonce for request in server.requests}
    assert len(nonces) == 2
    assert [(line["event"], line["path"], line["attempt"]) for line in lines] == [
        ("request_repeated", "/tasks/7/complete", 1)
    ]


def test_a_conflict_is_not_repeated() -> None:
    with ScriptedServer(refusal(StaleTaskOwner()), answer()) as server:
        with pytest.raises(StaleTaskOwner):
            client_of(server).persist("POST", "/tasks/7/complete", {}, until=lambda: False, wait=Waits())
        assert len(server.requests) == 1


def test_the_last_failure_is_told_when_giving_up() -> None:
    given_up = iter([False, True])
    with ScriptedServer(raw(b""), refusal(DatabaseUnavailable("away"))) as server:
        with pytest.raises(DatabaseUnavailable, match="away"):
            client_of(server).persist("GET", "/policy", until=lambda: next(given_up), wait=Waits())
        assert len(server.requests) == 2


def test_an_answer_counts_from_before_its_request_left() -> None:
    instants = iter([100.0, 200.0])
    with ScriptedServer(answer()) as server:
        client = Client(Transport(Origin.parse(server.url)), "server-1", SECRET, monotonic=lambda: next(instants))
        assert client.call("GET", "/policy").sent_at == 100.0


def test_every_answer_tells_its_policy_digest() -> None:
    heard: list[str] = []
    with ScriptedServer(
        answer(headers=["Policy-Digest: one"]), refusal(StaleTaskOwner(), ["Policy-Digest: two"]), answer()
    ) as server:
        client = client_of(server)
        client.on_policy_digest = heard.append
        client.call("GET", "/policy")
        with pytest.raises(StaleTaskOwner):
            client.call("GET", "/policy")
        client.call("GET", "/policy")
    assert heard == ["one", "two"]


def test_no_secret_is_sent() -> None:
    with ScriptedServer(answer()) as server:
        client_of(server).call("POST", "/tasks/acquire", {"server_id": "server-1"})
    assert not re.search(SECRET, server.requests[0])
