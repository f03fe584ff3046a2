"""Bad input of every kind to every call: a problem document that names what is wrong, nothing written, never a 500."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from flask import Flask
from werkzeug.test import TestResponse

from shared import problems
from shared.listing import MAX_BATCH_BYTES, MAX_BODY_BYTES
from shared.states import Role
from tests.integration.coordinator.api import samples
from tests.integration.coordinator.api.client import PREFIX, SignedClient
from tests.integration.coordinator.api.samples import Cluster, Sample
from tests.integration.seed import Seed

Clients = Callable[..., SignedClient]
Check = Callable[[TestResponse], None]

MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "no JSON": b"{",
    "trailing": b"{} {}",
    "an array": b"[]",
    "a string": b'"x"',
    "null": b"null",
    "not a number": b'{"fencing_token": NaN}',
    "infinity": b'{"fencing_token": Infinity}',
    "a huge number": b'{"fencing_token": 1e999}',
    "no UTF-8": b'{"server_id": "\xff\xfe"}',
    "a lone surrogate": b'{"server_id": "\\ud800 and more"}',
    "deep arrays": b'{"a": ' + b"[" * 30_000,
    "deep objects": b'{"a":' * 10_000,
    "a long name": b'{"' + b"x" * 30_000 + b'": 1}',
}
WRONG_VALUES: list[Any] = [
    None, True, -1, 0, 1.5, 2**63, 2**70, "", "x", "\u0000", "'; DROP TABLE servers; --", "\U0001f600" * 500,
    "x" * 9000, [], ["x"], {}, {"x": 1},
]  # fmt: skip


@pytest.fixture
def cluster(seed: Seed) -> Cluster:
    return samples.build(seed)


@pytest.fixture
def client_as(client_of: Clients) -> Callable[[str, Role], SignedClient]:
    """One client per caller and role, its key issued once."""
    made: dict[tuple[str, Role], SignedClient] = {}

    def client(caller: str, role: Role) -> SignedClient:
        if (caller, role) not in made:
            made[caller, role] = client_of(caller, role, key_id=f"{caller}-{role}")
        return made[caller, role]

    return client


@pytest.fixture
def send(client_as: Callable[[str, Role], SignedClient]) -> Callable[..., TestResponse]:
    """Sends a sample as its rightful caller, with another body or other headers."""

    def _send(method: str, sample: Sample, body: bytes | None = None, **headers: str) -> TestResponse:
        if body is None:
            body = b"" if sample.body is None else msgspec.json.encode(sample.body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return client_as(sample.caller, sample.role).send(method, sample.path, body, named)

    return _send


@pytest.fixture
def contents(seed: Seed) -> Callable[[], dict[str, int]]:
    """A checksum of every table but the nonces and keys, which requests and these tests write themselves."""
    tables = [next(iter(row.values())) for row in seed.rows("SHOW TABLES")]
    watched = ", ".join(sorted(set(tables) - {"nonces", "signing_keys", "audit_log"}))

    def checksum() -> dict[str, int]:
        return {row["Table"]: row["Checksum"] for row in seed.rows(f"CHECKSUM TABLE {watched}")}

    return checksum


def document_of(response: TestResponse) -> dict[str, Any]:
    """The problem document, after checking that it is a proper one."""
    assert response.status_code < 500, response.text
    assert response.content_type == "application/problem+json"
    document: dict[str, Any] = msgspec.json.decode(response.data)
    assert document["status"] == response.status_code
    assert document["code"] in problems.BY_CODE
    assert problems.BY_CODE[document["code"]].status == response.status_code
    assert document["detail"]
    assert "Traceback" not in response.text
    assert len(response.data) < 20_000
    return document


def with_body(cluster: Cluster) -> Iterator[tuple[str, Sample]]:
    for (method, _), sample in sorted(cluster.samples.items()):
        if sample.body is not None:
            yield method, sample


def test_every_call_has_a_sample(app: Flask, cluster: Cluster) -> None:
    """A new call is tried with all that is below, or this fails."""
    calls = set()
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith(f"{PREFIX}/") and rule.endpoint != "api-docs.openapi_json":
            path = re.sub(r"<[^>]*?(\w+)>", r"<\1>", rule.rule.removeprefix(PREFIX))
            calls |= {(method, path) for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}}
    assert calls == set(cluster.samples)


def test_the_samples_are_good(cluster: Cluster, send: Callable[..., TestResponse]) -> None:
    """What is spoiled below is taken when it is not spoiled."""
    for (method, rule), sample in cluster.samples.items():
        response = send(method, sample)
        assert (response.status_code < 300) is sample.taken, (method, rule, response.status_code, response.text)


@pytest.mark.parametrize("body", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_bodies(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]], body: bytes
) -> None:
    before = contents()
    for method, sample in with_body(cluster):
        document = document_of(send(method, sample, body))
        assert document["code"] == "invalid_input", (sample.path, document)
        assert document["errors"]
    assert contents() == before


def test_each_missing_field_is_named(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]]
) -> None:
    before = contents()
    optional = {"rejects", "guessed", "retry_after_seconds", "rate_limit_wait_seconds"}  # these have defaults
    for method, sample in with_body(cluster):
        assert sample.body is not None
        for name in sample.body.keys() - optional:
            body = {field: value for field, value in sample.body.items() if field != name}
            document = document_of(send(method, sample, msgspec.json.encode(body)))
            assert (document["status"], name in document["detail"]) == (422, True), (sample.path, name, document)
    assert contents() == before


def test_an_unknown_field_is_named(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]]
) -> None:
    before = contents()
    for method, sample in with_body(cluster):
        body = msgspec.json.encode({**(sample.body or {}), "surprise": 1})
        document = document_of(send(method, sample, body))
        assert (document["status"], "surprise" in document["detail"]) == (422, True), (sample.path, document)
    assert contents() == before


def spoiled(document: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """The document once for each of its fields, at any depth, with ``value`` there instead."""
    items = document.items() if isinstance(document, dict) else enumerate(document)
    for name, inner in list(items):
        copy = dict(document) if isinstance(document, dict) else list(document)
        copy[name] = value
        yield str(name), copy
        if isinstance(inner, dict | list):
            for field, changed in spoiled(inner, value):
                outer = dict(document) if isinstance(document, dict) else list(document)
                outer[name] = changed
                yield field, outer


@pytest.mark.parametrize("value", WRONG_VALUES, ids=lambda value: repr(value)[:12])
def test_wrong_values_in_each_field(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]], value: Any
) -> None:
    """Some are taken (zero is a fine count); what is not taken is answered properly and leaves nothing behind."""
    before = contents()
    refused = 0
    for method, sample in with_body(cluster):
        for field, body in spoiled(sample.body, value):
            response = send(method, sample, msgspec.json.encode(body))
            if response.status_code < 300:
                before = contents()
                continue
            document = document_of(response)
            refused += 1
            if document["status"] == 422:
                # A list's members go by their list, and members of attributes are called [...].
                named = field in document["detail"] or field.isdigit() or "[...]" in document["detail"]
                assert named, (sample.path, field, document)
            assert contents() == before, (sample.path, field, value, document)
    assert refused


def test_bodies_that_are_not_json_are_refused(cluster: Cluster, send: Callable[..., TestResponse]) -> None:
    for method, sample in with_body(cluster):
        for headers in (
            {"Content_Type": "text/plain"},
            {"Content_Type": "application/x-www-form-urlencoded"},
            {"Content_Type": ""},
            {"Content_Encoding": "gzip"},
        ):
            document = document_of(send(method, sample, **headers))
            assert document["code"] == "unsupported_media_type", (sample.path, headers, document)


def cap_of(sample: Sample) -> int:
    return MAX_BATCH_BYTES if "/batches/" in sample.path else MAX_BODY_BYTES


def test_a_body_of_the_cap_is_read_and_one_byte_more_is_not(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]]
) -> None:
    before = contents()
    for method, sample in with_body(cluster):
        padded = msgspec.json.encode(sample.body)[:-1] + b', "surprise": "'
        padded += b"x" * (cap_of(sample) - len(padded) - 2) + b'"}'
        assert len(padded) == cap_of(sample)
        assert document_of(send(method, sample, padded))["code"] == "invalid_input"
        assert document_of(send(method, sample, padded + b" "))["code"] == "body_too_large"
    assert contents() == before


def test_a_body_without_an_announced_length_is_capped_too(
    cluster: Cluster, client_as: Callable[[str, Role], SignedClient], app: Flask
) -> None:
    for method, sample in with_body(cluster):
        body = b" " * (cap_of(sample) + 1)
        headers = client_as(sample.caller, sample.role).sign(method, sample.path, body)
        response = app.test_client().open(
            PREFIX + sample.path,
            method=method,
            input_stream=io.BytesIO(body),
            headers={**headers, "Content-Type": "application/json", "Transfer-Encoding": "chunked"},
            environ_overrides={"wsgi.input_terminated": True},
        )
        assert document_of(response)["code"] == "body_too_large", sample.path


@pytest.mark.parametrize(
    "task_id", ["0", "999999", str(2**63 - 1), str(2**63), "1" * 40, "-1", "x", "1.5", "%00", "1'"]
)
def test_tasks_that_there_are_not(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]], task_id: str
) -> None:
    before = contents()
    for (method, rule), sample in cluster.samples.items():
        if "<task_id>" in rule:
            path = re.sub(r"/tasks/\d+", f"/tasks/{task_id}", sample.path)
            document = document_of(send(method, Sample(path, sample.body, sample.caller, sample.role)))
            assert document["code"] == "not_found", (path, document)
    assert contents() == before


def test_another_server_s_task(
    cluster: Cluster, send: Callable[..., TestResponse], contents: Callable[[], dict[str, int]]
) -> None:
    """Rightly signed, in one's own name, for a task that somebody else runs or nobody does."""
    before = contents()
    for (method, rule), sample in cluster.samples.items():
        if "<task_id>" in rule and sample.role is Role.SERVER:
            for name in ("foreign", "waiting"):
                path = re.sub(r"/tasks/\d+", f"/tasks/{cluster.tasks[name]}", sample.path)
                document = document_of(send(method, Sample(path, sample.body, sample.caller, sample.role)))
                assert document["code"] == "stale_task_owner", (path, document)
    assert contents() == before


def test_another_server_s_name(
    cluster: Cluster,
    client_as: Callable[[str, Role], SignedClient],
    contents: Callable[[], dict[str, int]],
) -> None:
    """A good request of server-1, signed with server-2's key."""
    before = contents()
    for (method, _), sample in cluster.samples.items():
        if sample.role is Role.SERVER and (sample.body is not None):
            body = msgspec.json.encode(sample.body)
            document = document_of(client_as("server-2", Role.SERVER).send(method, sample.path, body))
            assert document["code"] == "forbidden", (sample.path, document)
    assert contents() == before


@pytest.mark.parametrize("role", list(Role))
def test_a_key_of_another_role(
    cluster: Cluster,
    client_as: Callable[[str, Role], SignedClient],
    contents: Callable[[], dict[str, int]],
    role: Role,
) -> None:
    """No operator may speak as a server, even one of that name; no server and no viewer may do what operators do."""
    before = contents()
    for (method, rule), sample in cluster.samples.items():
        writes = method != "GET"
        allowed = sample.role is role or (not writes and sample.role is Role.VIEWER and role is Role.OPERATOR)
        if allowed or rule in ("/policy", "/leadership"):
            continue
        body = b"" if sample.body is None else msgspec.json.encode(sample.body)
        document = document_of(client_as("server-1", role).send(method, sample.path, body))
        assert document["code"] == "forbidden", (method, sample.path, role, document)
    assert contents() == before


def test_paths_that_there_are_not(cluster: Cluster, client_as: Callable[[str, Role], SignedClient]) -> None:
    client = client_as("server-1", Role.SERVER)
    for path in ("/nowhere", "/", "/policy/", "//policy", "/policy/../policy", "/tasks//heartbeat", "/%00", "/%C3%A4"):
        assert document_of(client.get(path))["code"] in ("not_found", "signature_invalid"), path


def test_methods_that_there_are_not_name_those_that_there_are(
    cluster: Cluster, client_as: Callable[[str, Role], SignedClient]
) -> None:
    client = client_as("server-1", Role.SERVER)
    for method in ("DELETE", "PATCH", "OPTIONS", "POST"):
        response = client.send(method, "/policy")
        assert document_of(response)["code"] == "method_not_allowed"
        assert "GET" in response.headers["Allow"]


def test_errors_outside_of_the_prefix_are_problem_documents_too(app: Flask) -> None:
    client = app.test_client()
    assert document_of(client.get("/nowhere"))["code"] == "not_found"
    assert document_of(client.post("/healthz"))["code"] == "method_not_allowed"
    assert document_of(client.post("/healthz", data=b"x" * 70_000))["code"] == "body_too_large"


def test_a_fault_of_ours_is_a_500_without_a_trace(
    app: Flask, client_as: Callable[[str, Role], SignedClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise RuntimeError("a secret detail")

    monkeypatch.setattr("coordinator.leadership.read", fault)
    response = client_as("server-1", Role.SERVER).get("/leadership")
    assert response.status_code == 500
    assert response.content_type == "application/problem+json"
    assert msgspec.json.decode(response.data)["code"] == "internal_error"
    assert "secret" not in response.text
