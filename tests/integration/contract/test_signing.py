"""Section 8: HMAC-SHA256, timestamp and nonce; whatever was changed or sent again is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from shared.policy import DEFAULT
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.contract.conftest import Daemons
from tests.integration.contract.proof import proves, refusal
from tests.integration.contract.sentences import OWNERSHIP, P2, SIGNED
from tests.integration.seed import Seed
from tests.integration.served.fixtures import COORDINATORS, Clients
from tests.integration.waits import together


@proves(SIGNED)
def test_a_replay_is_refused_by_every_coordinator(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/policy")
    answers = [client.send("GET", "/policy", b"", headers, place) for place in (0, *range(COORDINATORS))]
    assert [answer.status for answer in answers] == [200] + [401] * COORDINATORS
    assert {answer.document["code"] for answer in answers[1:]} == {"nonce_replayed"}


@proves(SIGNED)
def test_of_replays_at_once_one_is_taken(daemon_of: Daemons, clock: Clock) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/policy")
    answers = together(
        *(lambda place=place: client.send("GET", "/policy", b"", headers, place % COORDINATORS) for place in range(12))
    )
    assert sorted(answer.status for answer in answers) == [200] + [401] * 11


@pytest.mark.parametrize("seconds", [-61, 61])
@proves(SIGNED)
def test_a_signature_outside_the_window_is_refused(daemon_of: Daemons, clock: Clock, seconds: int) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/policy")
    clock.advance(seconds=seconds)
    answer = client.send("GET", "/policy", b"", headers)
    assert refusal(answer) == (401, "signature_expired")
    assert answer.document["now"].startswith(clock.now.isoformat())


@pytest.mark.parametrize("seconds", [-60, 60])
@proves(SIGNED)
def test_a_signature_within_the_window_is_taken(daemon_of: Daemons, clock: Clock, seconds: int) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/policy")
    clock.advance(seconds=seconds)
    assert client.send("GET", "/policy", b"", headers).status == 200


@proves(SIGNED)
def test_another_payload_is_refused(daemon_of: Daemons, waiting: Callable[..., int], clock: Clock, seed: Seed) -> None:
    waiting()
    daemon = daemon_of("server-1", "bazaar")
    body = b'{"server_id": "server-1", "boot_id": "%s", "acquire_seq": 1}' % daemon.boot_id.encode()
    headers = daemon.client.sign("POST", "/tasks/acquire", body)
    tampered = body.replace(b": 1}", b": 2}")
    assert refusal(daemon.client.send("POST", "/tasks/acquire", tampered, headers)) == (401, "signature_invalid")
    assert seed.count("crawl_tasks", state="running") == 0
    assert daemon.client.send("POST", "/tasks/acquire", body, headers).status == 200


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/leadership"), ("GET", "/cluster"), ("GET", "/leadership?a=1"), ("HEAD", "/policy")]
)
@proves(SIGNED)
def test_another_method_path_or_query_is_refused(daemon_of: Daemons, clock: Clock, method: str, path: str) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/leadership")
    assert client.send(method, path, b"", headers).status == 401


@pytest.mark.parametrize("name", ["Signature", "Signature-Input", "Content-Digest"])
@proves(SIGNED)
def test_a_request_without_its_signature_is_refused(daemon_of: Daemons, clock: Clock, name: str) -> None:
    client = daemon_of("server-1").client
    headers = client.sign("GET", "/policy")
    del headers[name]
    assert refusal(client.send("GET", "/policy", b"", headers)) == (401, "signature_invalid")


@proves(OWNERSHIP)
def test_a_server_cannot_speak_for_another(daemon_of: Daemons, clock: Clock) -> None:
    honest, thief = daemon_of("server-1"), daemon_of("server-2")
    for path, body in (
        ("/leadership/campaign", {"server_id": "server-1", "boot_id": honest.boot_id}),
        ("/tasks/acquire", {"server_id": "server-1", "boot_id": honest.boot_id, "acquire_seq": 1}),
        ("/servers/server-1/deregister", {"boot_id": honest.boot_id}),
    ):
        assert refusal(thief.client.post(path, body)) == (403, "forbidden")


@proves(SIGNED)
def test_a_key_is_worth_nothing_once_it_is_revoked(served_client_of: Clients, clock: Clock, seed: Seed) -> None:
    client = served_client_of("server-1")
    assert client.get("/policy").status == 200
    seed.update("signing_keys", {"key_id": "server-1"}, revoked_at=clock.now)
    answers = [client.get("/policy", coordinator=place) for place in range(COORDINATORS)]
    assert [answer.status for answer in answers] == [401] * COORDINATORS


@proves(SIGNED)
def test_viewers_only_look(served_client_of: Clients, waiting: Callable[..., int], clock: Clock) -> None:
    task_id = waiting()
    viewer, operator = served_client_of("vera", Role.VIEWER), served_client_of("ann", Role.OPERATOR)
    assert viewer.get("/tasks").status == 200
    assert refusal(viewer.post(f"/tasks/{task_id}/cancel", {})) == (403, "forbidden")
    assert operator.post(f"/tasks/{task_id}/cancel", {}).document["state"] == "cancelled"


@proves(P2)
def test_cleaning_up_lets_no_replay_in(daemon_of: Daemons, clock: Clock, seed: Seed) -> None:
    daemon = daemon_of("server-1")
    headers = daemon.client.sign("GET", "/policy")
    assert daemon.client.send("GET", "/policy", b"", headers).status == 200
    leader = daemon_of("server-2")
    for _ in range(8):
        clock.advance(seconds=60)
        leader.keep_house(leader.lead())
        assert daemon.client.send("GET", "/policy", b"", headers).status == 401
    deleted = seed.now() - timedelta(seconds=DEFAULT.nonce_retention_seconds)
    oldest = seed.rows("SELECT FROM_UNIXTIME(MIN(created)) AS oldest FROM nonces")[0]["oldest"]
    assert oldest >= deleted
