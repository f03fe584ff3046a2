"""Who is let in: key, signature, nonce, window, in this order; and what each refusal leaves in the database."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pymysql
import pytest
from flask import Flask
from pymysql.cursors import DictCursor
from werkzeug.test import TestResponse

from coordinator import keys
from coordinator.audit import Actor
from coordinator.database import Database
from shared.signing import Signer
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.coordinator.api.client import SignedClient
from tests.integration.seed import Seed

Clients = Callable[..., SignedClient]
UNREGISTERED = b'{"server_id": "server-1", "boot_id": "6f0e4fae-5f3b-4ad4-8a6b-0d3a3f0f7a00"}'


def code_of(response: TestResponse) -> str:
    assert response.content_type == "application/problem+json", response.text
    document: dict[str, Any] = response.get_json(force=True)
    assert document["status"] == response.status_code
    return str(document["code"])


def test_a_signed_request_is_answered_and_its_nonce_is_kept(client_of: Clients, seed: Seed) -> None:
    response = client_of("server-1").get("/policy")
    assert response.status_code == 200
    assert seed.row("nonces")["key_id"] == "server-1"


def test_a_replay_is_refused(client_of: Clients, seed: Seed) -> None:
    client = client_of("server-1")
    headers = client.sign("GET", "/policy")
    assert client.send_unsigned("GET", "/policy", b"", headers).status_code == 200
    again = client.send_unsigned("GET", "/policy", b"", headers)
    assert (again.status_code, code_of(again)) == (401, "nonce_replayed")
    assert seed.count("nonces") == 1


def test_of_two_requests_with_one_nonce_at_the_same_moment_one_is_let_in(app: Flask, client_of: Clients) -> None:
    client = client_of("server-1")
    headers = client.sign("GET", "/policy")
    together = threading.Barrier(4)
    answers: list[int] = []

    def send() -> None:
        together.wait(timeout=10)
        answers.append(client.send_unsigned("GET", "/policy", b"", headers).status_code)

    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert sorted(answers) == [200, 401, 401, 401]


def test_the_same_nonce_of_another_key_is_another_nonce(client_of: Clients, app: Flask, signer_of: Any) -> None:
    for key_id in ("one", "two"):
        client = client_of("server-1", key_id=key_id)
        client._signer._nonce = lambda: "A" * 32
        assert client.get("/policy").status_code == 200


@pytest.mark.parametrize(
    "change",
    [
        {"Signature": f"sig1=:{'A' * 43}=:"},
        {"Signature": "garbage"},
        {"Signature": ""},
        {"Signature-Input": "sig1=()"},
        {"Signature-Input": "\u00e4\u00f6"},
        {"Signature-Input": "x" * 7000},
        {"Content-Digest": f"sha-256=:{'A' * 43}=:"},
        {"Content-Digest": ""},
    ],
    ids=str,
)
def test_a_bad_signature_stores_nothing(client_of: Clients, seed: Seed, change: dict[str, str]) -> None:
    response = client_of("server-1").send("GET", "/policy", headers=change)
    assert (response.status_code, code_of(response)) == (401, "signature_invalid")
    assert "WWW-Authenticate" in response.headers
    assert seed.count("nonces") == 0


def test_no_signature_at_all(client_of: Clients, seed: Seed) -> None:
    response = client_of("server-1").send_unsigned("GET", "/policy", b"", {})
    assert (response.status_code, code_of(response)) == (401, "signature_invalid")
    assert seed.count("nonces") == 0


@pytest.mark.parametrize("part", ["method", "path", "query", "body"])
def test_a_signature_for_another_request_is_refused(client_of: Clients, seed: Seed, part: str) -> None:
    client = client_of("server-1")
    body = UNREGISTERED
    headers = {**client.sign("POST", "/leadership/campaign?a=1", body), "Content-Type": "application/json"}
    sent = {"method": "POST", "path": "/leadership/campaign?a=1", "body": body}
    sent |= {
        "method": {"method": "PUT"},
        "path": {"path": "/leadership/heartbeat?a=1"},
        "query": {"path": "/leadership/campaign?a=2"},
        "body": {"body": body.replace(b"6f0e", b"6f0f")},
    }[part]
    response = client.send_unsigned(sent["method"], sent["path"], sent["body"], headers)  # type: ignore[arg-type]
    assert (response.status_code, code_of(response)) == (401, "signature_invalid")
    assert seed.count("nonces") == 0


def test_a_signature_for_another_authority_is_refused(app: Flask, client_of: Clients, signer_of: Any) -> None:
    elsewhere = SignedClient(app, "elsewhere.test", signer_of("server-1"))
    assert code_of(elsewhere.get("/policy")) == "signature_invalid"


def test_the_host_header_is_not_what_is_signed(client_of: Clients) -> None:
    """The authority is configured: a proxy may send any Host."""
    assert client_of("server-1").send("GET", "/policy", headers={"Host": "internal:8080"}).status_code == 200


def test_an_unknown_key_is_refused(app: Flask, seed: Seed) -> None:
    stranger = SignedClient(app, "coordinator.test", Signer("nobody", b"x" * 32))
    response = stranger.get("/policy")
    assert (response.status_code, code_of(response)) == (401, "signature_invalid")
    assert seed.count("nonces") == 0


def test_a_key_is_refused_from_its_revocation_on(client_of: Clients, database: Database) -> None:
    client = client_of("server-1")
    assert client.get("/policy").status_code == 200
    database.transaction(lambda tx: keys.revoke(tx, "server-1", Actor("test")))
    assert code_of(client.get("/policy")) == "signature_invalid"


def test_two_keys_of_a_server_are_valid_at_once(client_of: Clients) -> None:
    for key_id in ("old", "new"):
        assert client_of("server-1", key_id=key_id).get("/policy").status_code == 200


def test_a_key_is_refused_from_its_expiry_on(client_of: Clients, clock: Clock, seed: Seed) -> None:
    client = client_of("server-1")
    seed.update("signing_keys", {"key_id": "server-1"}, expires_at=clock.now)
    assert code_of(client.get("/policy")) == "signature_invalid"
    clock.advance(microseconds=-1)
    assert client.get("/policy").status_code == 200


def test_a_secret_moved_to_another_key_does_not_open(client_of: Clients, seed: Seed) -> None:
    client_of("server-1")
    other = client_of("server-2")
    stolen = seed.row("signing_keys", key_id="server-1")
    seed.update(
        "signing_keys",
        {"key_id": "server-2"},
        secret_nonce=stolen["secret_nonce"],
        secret_sealed=stolen["secret_sealed"],
    )
    assert other.get("/policy").status_code == 500


def signed_at(client: SignedClient, offset_seconds: int) -> dict[str, str]:
    now = client._signer._now
    client._signer._now = lambda: now() + offset_seconds
    headers = client.sign("GET", "/policy")
    client._signer._now = now
    return headers


@pytest.mark.parametrize(
    ("moment", "accepted"),
    [((-60, 0), True), ((-60, 1), False), ((60, 0), True), ((61, 999_999), False), ((62, 1), False)],
)
def test_the_window_to_the_microsecond(
    client_of: Clients, clock: Clock, seed: Seed, moment: tuple[int, int], accepted: bool
) -> None:
    offset_seconds, microseconds = moment
    client = client_of("server-1")
    headers = signed_at(client, offset_seconds)
    clock.advance(microseconds=microseconds)
    response = client.send_unsigned("GET", "/policy", b"", headers)
    if accepted:
        assert response.status_code == 200
        return
    assert (response.status_code, code_of(response)) == (401, "signature_expired")
    assert response.get_json(force=True)["now"].endswith("Z")
    assert seed.count("nonces") == 0


def test_a_paused_process_does_not_accept_a_replay_whose_nonce_was_cleaned_up(
    client_of: Clients, connect: Callable[..., pymysql.Connection[DictCursor]], seed: Seed, clock: Clock
) -> None:
    """The nonce's insert waits for a lock until the window has passed: the clock is read after it, so it is refused.

    This is the order that matters: a window judged before the nonce would have been judged while it was still open.
    """
    clock.release()
    seed.insert(
        "policy",
        policy_id=1,
        version=1,
        digest="d",
        body='{"signature_window_seconds": 2}',
        updated_at=seed.now(),
        updated_by="t",
    )
    client = client_of("server-1")
    headers = signed_at(client, 0)
    created = int(re.findall(r"created=(\d+)", headers["Signature-Input"])[0])
    nonce = re.findall(r'nonce="([^"]+)"', headers["Signature-Input"])[0]
    holder = connect()
    with holder.cursor() as cursor:
        cursor.execute("INSERT INTO nonces VALUES (%s, 'server-1', %s)", (created, nonce.encode()))
        answers: list[TestResponse] = []
        thread = threading.Thread(target=lambda: answers.append(client.send_unsigned("GET", "/policy", b"", headers)))
        thread.start()
        cursor.execute("SELECT SLEEP(3.2)")
        holder.rollback()
        thread.join(timeout=20)
    (response,) = answers
    assert (response.status_code, code_of(response)) == (401, "signature_expired")


def test_a_refused_operation_keeps_its_nonce(client_of: Clients, seed: Seed) -> None:
    client = client_of("server-1")
    for method, path, body, status in (
        ("GET", "/nowhere", b"", 404),
        ("DELETE", "/policy", b"", 405),
        ("POST", "/leadership/campaign", b"{", 422),
        ("POST", "/leadership/campaign", UNREGISTERED, 409),
        ("GET", "/policy?unknown=1", b"", 200),
    ):
        headers = {**client.sign(method, path, body), "Content-Type": "application/json"}
        first = client.send_unsigned(method, path, body, headers)
        assert first.status_code == status, first.text
        assert code_of(client.send_unsigned(method, path, body, headers)) == "nonce_replayed"
    assert seed.count("nonces") == 5


def test_a_malformed_request_that_is_too_old_is_told_so_first(client_of: Clients, clock: Clock) -> None:
    client = client_of("server-1")
    headers = {**client.sign("POST", "/leadership/campaign", b"{"), "Content-Type": "application/json"}
    clock.advance(seconds=61)
    response = client.send_unsigned("POST", "/leadership/campaign", b"{", headers)
    assert (response.status_code, code_of(response)) == (401, "signature_expired")


def test_a_database_that_is_away_is_no_verdict(app: Flask, client_of: Clients, monkeypatch: pytest.MonkeyPatch) -> None:
    client = client_of("server-1")
    database: Database = app.extensions["coordinator"].database
    monkeypatch.setattr(database, "_connector", _Away())
    response = client.get("/policy")
    assert (response.status_code, code_of(response)) == (503, "database_unavailable")
    assert int(response.headers["Retry-After"]) >= 1


class _Away:
    def connect(self, **_: object) -> None:
        raise pymysql.err.OperationalError(2003, "Can't connect")


def test_a_deadlock_in_the_first_transaction_restarts_it_with_its_nonce(
    app: Flask, client_of: Clients, seed: Seed, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the nonce survived the rollback, the repeat would find it and call the request a replay of itself."""
    client = client_of("server-1")
    database: Database = app.extensions["coordinator"].database
    attempts = 0
    real = database._attempt

    def deadlock_once(work: Any, first: Any) -> Any:
        def failing(tx: Any) -> Any:
            nonlocal attempts
            attempts += 1
            if attempts == 1:
                raise pymysql.err.OperationalError(1213, "Deadlock found")
            return work(tx)

        return real(failing if first is not None else work, first)

    monkeypatch.setattr(database, "_attempt", deadlock_once)
    assert client.get("/policy").status_code == 200
    assert attempts == 2
    assert database.retries == {1213: 1}
    assert seed.count("nonces") == 1


@pytest.mark.parametrize("offered", ["0123456789abcdef", "client-made-this.1"])
def test_a_sane_request_id_is_taken_over(client_of: Clients, offered: str) -> None:
    response = client_of("server-1").send("GET", "/policy", headers={"X-Request-ID": offered})
    assert response.headers["X-Request-ID"] == offered


@pytest.mark.parametrize("offered", ["", "short", "x" * 65, "with space", "<script>12345"])
def test_any_other_request_id_is_replaced(client_of: Clients, offered: str) -> None:
    response = client_of("server-1").send("GET", "/policy", headers={"X-Request-ID": offered})
    assert response.headers["X-Request-ID"] != offered
    assert len(response.headers["X-Request-ID"]) == 36


def test_answers_carry_the_policy_digest_and_are_not_stored(client_of: Clients) -> None:
    response = client_of("viewer", Role.VIEWER).get("/policy")
    assert response.headers["Policy-Digest"] == response.get_json()["digest"]
    assert response.headers["Cache-Control"] == "no-store"
