"""The coordinator as it runs: gunicorn, threads, a real socket, signed requests, an orderly end."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from coordinator import schema
from coordinator.configuration import Configuration
from coordinator.connections import DatabaseSettings
from coordinator.database import Database
from shared.listing import MAX_BODY_BYTES
from shared.signing import Signer
from shared.states import Role
from tests.integration.coordinator.api.conftest import AUTHORITY
from tests.integration.seed import Seed
from tests.integration.served import server as processes
from tests.integration.served.client import Signers
from tests.integration.served.server import Answer, Served

API = "/api/v1"
THREADS = 8
"""As many as a process has unless told otherwise."""
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def settings(configuration: Configuration, database_settings: DatabaseSettings) -> dict[str, str]:
    """The environment of the process under test."""
    return {
        "COORDINATOR_ORIGIN": f"http://{AUTHORITY}",
        "COORDINATOR_KEY_FILE": str(configuration.key_file),
        "COORDINATOR_DATABASE_SOCKET": str(database_settings.unix_socket),
        "COORDINATOR_DATABASE_USER": database_settings.user,
        "COORDINATOR_DATABASE_NAME": database_settings.name,
    }


@pytest.fixture
def applied(database: Database) -> None:
    """The schema's version is recorded, as after ``coordinator schema apply``."""
    name = database.settings.name
    database.transaction(lambda tx: schema.record(tx, name, schema.NEWEST_SUPPORTED_VERSION))


@pytest.fixture
def served(settings: dict[str, str], applied: None, tmp_path: Path) -> Iterator[Served]:
    running = processes.start(settings, tmp_path)
    yield running
    if running.process.poll() is None:
        running.kill()


def send(served: Served, signer: Signer, method: str, target: str, document: Any = None) -> Answer:
    body = b"" if document is None else json.dumps(document).encode()
    headers = signer.headers(method, AUTHORITY, API + target, body)
    return served.send(method, API + target, {**headers, **JSON}, body)


def test_a_server_registers_leads_and_leaves(served: Served, signer_of: Signers, seed: Seed) -> None:
    seed.marketplace("shopify")
    signer = signer_of("server-1")
    boot = str(uuid4())
    registration = {
        "boot_id": boot,
        "machine_id": "m",
        "hostname": "h",
        "version": "0.1.0",
        "marketplaces": [{"marketplace_code": "shopify", "cursor_format": "rest/1"}],
    }
    registered = send(served, signer, "PUT", "/servers/server-1", registration)
    assert registered.status == 200, registered.body
    assert registered.headers["Policy-Digest"] == registered.document["policy_digest"]
    me = {"server_id": "server-1", "boot_id": boot}
    elected = send(served, signer, "POST", "/leadership/campaign", me).document
    assert (elected["elected"], elected["fencing_token"]) == (True, 1)
    nothing = send(served, signer, "POST", "/tasks/acquire", {**me, "acquire_seq": 1})
    assert (nothing.status, nothing.headers["Retry-After"], nothing.body) == (204, "1", b"")
    assert nothing.headers["Cache-Control"] == "no-store"
    assert send(served, signer, "POST", "/servers/server-1/deregister", {"boot_id": boot}).status == 204
    assert seed.row("leadership")["leader_server_id"] is None


def test_the_raw_target_is_what_is_signed(served: Served, signer_of: Signers) -> None:
    operator = signer_of("ann", Role.OPERATOR)
    assert send(served, operator, "GET", "/tasks?state=queued&limit=%31").status == 200
    target = f"{API}/tasks?limit=%31"
    headers = operator.headers("GET", AUTHORITY, target, b"")
    assert served.send("GET", target.replace("%31", "1"), headers).status == 401


def test_a_body_in_chunks_is_taken_and_capped(served: Served, signer_of: Signers) -> None:
    signer = signer_of("server-1")
    target = f"{API}/leadership/campaign"
    body = json.dumps({"server_id": "server-1", "boot_id": str(uuid4())}).encode()
    headers = {**signer.headers("POST", AUTHORITY, target, body), **JSON}
    answer = served.send("POST", target, headers, iter([body[:10], body[10:]]))
    assert answer.document["code"] == "server_not_registered"
    huge = b" " * (MAX_BODY_BYTES + 1)
    headers = {**signer.headers("POST", AUTHORITY, target, huge), **JSON}
    assert served.send("POST", target, headers, iter([huge])).status == 413


def test_chunks_that_cannot_be_read_are_bad_input(served: Served) -> None:
    head = f"POST {API}/leadership/campaign HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(head.encode() + b"zz\r\n{}\r\n")
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 422 "), answer
    assert b'"code":"invalid_input"' in answer


@pytest.mark.parametrize("sent", ["X-Unfinished: ", "Content-Length: 9\r\n\r\n{"])
def test_requests_that_never_go_on_do_not_hold_the_threads(served: Served, sent: str) -> None:
    request = f"POST {API}/leadership/campaign HTTP/1.1\r\n{sent}".encode()
    with contextlib.ExitStack() as stack:
        for _ in range(THREADS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=30))
            connection.sendall(request)
        assert served.send("GET", "/healthz", {}).status == 200


def test_requests_at_once_are_all_answered(served: Served, signer_of: Signers) -> None:
    signer = signer_of("server-1")
    answers: list[int] = []

    def ask() -> None:
        answers.extend(send(served, signer, "GET", "/leadership").status for _ in range(10))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert answers == [200] * 80


def test_probes_tell_what_drifted(served: Served, seed: Seed) -> None:
    assert served.send("GET", "/healthz", {}).document == {"status": "ok"}
    ready = served.send("GET", "/readyz", {})
    assert ready.document == {"status": "ready", "schema_version": schema.NEWEST_SUPPORTED_VERSION}
    seed.execute("ALTER TABLE accounts ADD INDEX drifted (size)")
    try:
        drifted = served.send("GET", "/readyz", {})
    finally:
        seed.execute("ALTER TABLE accounts DROP INDEX drifted")
    assert drifted.status == 503
    assert "accounts.drifted" in drifted.document["problems"][0]
    assert served.send("GET", "/readyz", {}).status == 200


def test_it_ends_in_order_and_leaves_nothing_behind(served: Served, signer_of: Signers, tmp_path: Path) -> None:
    signer = signer_of("server-1")
    target = f"{API}/policy"
    headers = {**signer.headers("GET", AUTHORITY, target, b""), "X-Request-ID": "request-number-1"}
    assert served.send("GET", target, headers).headers["X-Request-ID"] == "request-number-1"
    assert served.stop() == 0
    assert list(tmp_path.iterdir()) == []
    (line,) = [line for line in served.lines if line["event"] == "request"]
    expected = {"path": target, "status": 200, "request_id": "request-number-1", "key_id": "server-1"}
    assert {name: line[name] for name in expected} == expected
    log = json.dumps(served.lines)
    for secret in headers["Signature"], headers["Signature-Input"]:
        assert secret not in log


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"COORDINATOR_ORIGIN": ""}, "origin"),
        ({"COORDINATOR_KEY_FILE": "/nonexistent"}, "key_file"),
        ({"COORDINATOR_DATABASE_SOCKET": "/nonexistent"}, "database"),
        ({"COORDINATOR_DATABASE_NAME": "mysql"}, "coordinator schema apply"),
        ({"ENVIRONMENT": "production"}, "https"),
    ],
)
def test_it_refuses_to_start_and_says_why(
    settings: dict[str, str], applied: None, tmp_path: Path, change: dict[str, str], named: str
) -> None:
    ended = subprocess.run(
        processes.command(processes.free_port()),
        env=processes.environment({**settings, **change}, tmp_path),
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 1
    assert named in ended.stderr
    assert "Traceback" not in ended.stderr
