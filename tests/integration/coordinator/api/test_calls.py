"""The protocol over HTTP: a crawl from registration to completion, operators' calls, and what answers carry."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from structlog.testing import capture_logs
from werkzeug.test import TestResponse

from coordinator import account_import, policies
from coordinator.audit import Actor
from coordinator.database import Database
from coordinator.vault import Vault
from shared.states import Role
from tests.integration.coordinator.api.client import SignedClient
from tests.integration.seed import Seed

Clients = Callable[..., SignedClient]

DOCUMENT: dict[str, Any] = {
    "marketplaces": [{"code": "shopify", "name": "Shopify"}],
    "accounts": [
        {
            "partner": "acme",
            "marketplace": "shopify",
            "account_ref": "shop-1",
            "settings": {"shop": "one"},
            "credentials": {"token": "a secret token"},
        }
    ],
}


def taken(response: TestResponse, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.get_json() if response.data else None


def refused(response: TestResponse, status: int, code: str) -> dict[str, Any]:
    document: dict[str, Any] = response.get_json(force=True)
    assert (response.status_code, document["code"]) == (status, code), document
    return document


class Daemon:
    """What a daemon does, call by call."""

    def __init__(self, client: SignedClient, server_id: str) -> None:
        self.client = client
        self.server_id = server_id
        self.boot_id = str(uuid4())
        self.me = {"server_id": server_id, "boot_id": self.boot_id}
        self.acquire_seq = 0

    def register(self) -> Any:
        presented = {
            "boot_id": self.boot_id,
            "machine_id": "machine-1",
            "hostname": "host",
            "version": "0.1.0",
            "marketplaces": [{"marketplace_code": "shopify", "cursor_format": "rest/1"}],
        }
        return taken(self.client.put(f"/servers/{self.server_id}", presented))

    def lead(self) -> dict[str, Any]:
        elected = taken(self.client.post("/leadership/campaign", self.me))
        assert elected["elected"]
        return {**self.me, "fencing_token": elected["fencing_token"]}

    def acquire(self) -> TestResponse:
        self.acquire_seq += 1
        return self.client.post("/tasks/acquire", {**self.me, "acquire_seq": self.acquire_seq})


@pytest.fixture
def account(database: Database, vault: Vault) -> None:
    database.transaction(lambda tx: account_import.run(tx, vault, DOCUMENT, Actor("test")))


@pytest.fixture
def daemon(client_of: Clients, account: None) -> Daemon:
    made = Daemon(client_of("server-1"), "server-1")
    made.register()
    return made


def plan(daemon: Daemon, leader: dict[str, Any]) -> Any:
    found = taken(daemon.client.get("/plan/candidates?limit=10"))
    tasks = [
        {
            "account_id": candidate["account_id"],
            "due_at": candidate["due_at"],
            "size": candidate["size"],
            "size_class": "probe" if candidate["size"] is None else "small",
            "dispatch_key": candidate["due_at"],
        }
        for candidate in found["candidates"]
    ]
    return taken(daemon.client.post("/plan", {**leader, "plan_id": str(uuid4()), "tasks": tasks}))


def started(daemon: Daemon) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """A planned and acquired task: its path, its owner's body, the grant."""
    assert plan(daemon, daemon.lead()) == {"created": 1, "skipped": 0}
    grant = taken(daemon.acquire())
    owner = {**daemon.me, "fencing_token": grant["fencing_token"]}
    return f"/tasks/{grant['task_id']}", owner, grant


def batch_of(owner: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        **owner,
        "current_page": 1,
        "last_cursor_token": "cursor-1",
        "processed_count": 2,
        "total_discovered_count": 2,
        "listings": [
            {"listing_ref": "0001", "title": "Mug \U0001f600", "price": "1.50", "currency": "EUR"},
            {"listing_ref": "0002", "title": "Cup"},
        ],
        "rejects": [],
        "cursor_format": "rest/1",
        **changes,
    }


def test_a_crawl_from_registration_to_completion(daemon: Daemon, seed: Seed) -> None:
    path, owner, grant = started(daemon)
    assert grant["account"]["settings"] == {"shop": "one"}
    assert grant["credentials"] == {"version": 1, "values": {"token": "a secret token"}}
    assert grant["checkpoint"] == {
        "epoch": 1,
        "current_page": 0,
        "last_cursor_token": None,
        "processed_count": 0,
        "total_discovered_count": None,
    }
    assert grant["lease_seconds"] == 60
    report = {"current_page": 1, "last_cursor_token": "c", "processed_count": 2, "total_discovered_count": 2}
    beat = taken(daemon.client.post(f"{path}/heartbeat", {**owner, **report}))
    assert (beat["progress"], beat["yield"], beat["drain"], beat["cancel"]) == ("recorded", False, False, False)
    batch = batch_of(owner)
    applied = taken(daemon.client.put(f"{path}/batches/1", batch), 201)
    assert (applied["appeared"], applied["replayed"], applied["batch_no"]) == (2, False, 1)
    again = taken(daemon.client.put(f"{path}/batches/1", batch), 200)
    assert again["replayed"] is True
    assert {**again, "replayed": False}.keys() == applied.keys()
    completion = {**owner, "last_batch": 1, "processed_count": 2, "enumeration": "proven"}
    for _ in range(2):
        assert taken(daemon.client.post(f"{path}/complete", completion))["state"] == "completed"
    assert seed.row("accounts")["size"] == 2
    assert seed.count("listings") == 2
    assert daemon.acquire().status_code == 204


def test_refusals_carry_what_the_caller_must_know(daemon: Daemon) -> None:
    path, owner, _ = started(daemon)
    put = daemon.client.put
    assert refused(put(f"{path}/batches/3", batch_of(owner)), 409, "batch_gap")["expected_batch_no"] == 1
    taken(put(f"{path}/batches/1", batch_of(owner)), 201)
    refused(put(f"{path}/batches/1", batch_of(owner, current_page=2)), 409, "batch_conflict")
    document = refused(put(f"{path}/batches/2", batch_of(owner, processed_count=1)), 409, "checkpoint_regression")
    assert (document["current_page"], document["processed_count"]) == (1, 2)
    completion = {**owner, "last_batch": 5, "processed_count": 2, "enumeration": "proven"}
    document = refused(daemon.client.post(f"{path}/complete", completion), 409, "batches_missing")
    assert document["last_batch_no"] == 1
    stale = {**owner, "fencing_token": 99}
    refused(put(f"{path}/batches/2", batch_of(stale)), 409, "stale_task_owner")


def test_the_same_bytes_are_the_same_batch_and_others_are_not(daemon: Daemon) -> None:
    """A retry sends identical bytes; the digest is of the raw body, not of what it means."""
    path, owner, _ = started(daemon)
    compact = json.dumps(batch_of(owner), separators=(",", ":")).encode()
    spaced = json.dumps(batch_of(owner)).encode()
    assert daemon.client.send("PUT", f"{path}/batches/1", compact).status_code == 201
    assert daemon.client.send("PUT", f"{path}/batches/1", compact).status_code == 200
    refused(daemon.client.send("PUT", f"{path}/batches/1", spaced), 409, "batch_conflict")


def test_a_task_fails_is_released_and_gets_new_credentials(daemon: Daemon, seed: Seed) -> None:
    path, owner, grant = started(daemon)
    rotated = {**owner, "version": 1, "values": {"token": "another"}}
    assert taken(daemon.client.put(f"{path}/credentials", rotated)) == {"version": 2}
    refused(
        daemon.client.put(f"{path}/credentials", {**rotated, "values": {"token": "a third"}}),
        409,
        "credentials_conflict",
    )
    released = taken(daemon.client.post(f"{path}/release", {**owner, "reason": "drain"}))
    assert released == {"state": "queued", "eligible_at": None}
    again = taken(daemon.acquire())
    assert (again["task_id"], again["fencing_token"]) == (grant["task_id"], grant["fencing_token"] + 1)
    assert again["credentials"] == {"version": 2, "values": {"token": "another"}}
    owner = {**owner, "fencing_token": again["fencing_token"]}
    error = {"code": "server_error", "message": "the marketplace answered 500"}
    failed = taken(daemon.client.post(f"{path}/fail", {**owner, "error": error, "retryable": True}))
    assert failed["state"] == "delayed"
    assert failed["eligible_at"].endswith("Z")
    assert seed.row("crawl_tasks")["error_code"] == "server_error"


def test_tasks_of_a_vanished_owner_come_back_with_the_next_acquire(
    daemon: Daemon, client_of: Clients, seed: Seed
) -> None:
    """No leader is needed for it: whoever asks for a task sweeps first."""
    path, _, grant = started(daemon)
    seed.update("crawl_tasks", {"task_id": grant["task_id"]}, lease_expires_at=seed.now())
    other = Daemon(client_of("server-2"), "server-2")
    other.register()
    again = taken(other.acquire())
    assert (f"/tasks/{again['task_id']}", again["fencing_token"]) == (path, 2)


def test_another_boot_takes_the_server_over(daemon: Daemon, client_of: Clients) -> None:
    path, owner, _ = started(daemon)
    fresh = Daemon(daemon.client, "server-1")
    fresh.register()
    refused(daemon.client.put(f"{path}/batches/1", batch_of(owner)), 409, "stale_task_owner")
    refused(daemon.acquire(), 409, "boot_superseded")
    telemetry = {"cpu_percent": 0.5, "rss_bytes": 1, "running_tasks": 0}
    beat = {"boot_id": fresh.boot_id, "telemetry": telemetry}
    heard = taken(daemon.client.post("/servers/server-1/heartbeat", beat))
    assert heard["drain"] is False
    assert taken(fresh.acquire())["fencing_token"] == 2


def test_a_server_id_in_use_elsewhere_says_when_to_ask_again(daemon: Daemon) -> None:
    presented = {
        "boot_id": str(uuid4()),
        "machine_id": "machine-2",
        "hostname": "h",
        "version": "1",
        "marketplaces": [],
    }
    response = daemon.client.put("/servers/server-1", presented)
    refused(response, 409, "server_id_in_use")
    assert 1 <= int(response.headers["Retry-After"]) <= 30


def test_the_leader_s_calls(daemon: Daemon) -> None:
    leader = daemon.lead()
    read = taken(daemon.client.get("/leadership"))
    assert (read["leader_server_id"], read["elected"]) == ("server-1", False)
    assert taken(daemon.client.post("/leadership/heartbeat", leader))["elected"] is True
    kept = taken(daemon.client.post("/housekeeping", leader))
    assert set(kept) == {"nonces_deleted", "tasks_recovered", "tasks_woken", "history_deleted"}
    assert taken(daemon.client.post("/leadership/resign", leader))["leader_server_id"] is None
    document = refused(daemon.client.post("/leadership/heartbeat", leader), 409, "stale_fencing_token")
    assert document["fencing_token"] == 1


def test_an_instant_ahead_of_the_clock_is_an_alarm(daemon: Daemon, client_of: Clients, seed: Seed) -> None:
    leader = daemon.lead()
    far = seed.now() + datetime.timedelta(seconds=60)
    seed.update("servers", {"server_id": "server-1"}, last_heartbeat_at=far)
    with capture_logs() as lines:
        taken(daemon.client.post("/housekeeping", leader))
    assert len([line for line in lines if line["event"] == "instant_ahead"]) == 1
    (alarm,) = taken(client_of("vera", Role.VIEWER).get("/cluster"))["instants_ahead"]
    assert alarm["column"] == "servers.last_heartbeat_at"
    assert 50 < alarm["seconds_ahead"] <= 60


def test_operators_see_the_cluster(daemon: Daemon, client_of: Clients) -> None:
    path, _, grant = started(daemon)
    viewer = client_of("vera", Role.VIEWER)
    cluster = taken(viewer.get("/cluster"))
    assert (cluster["active_servers"], cluster["capacity"], cluster["running"]) == (1, 3, 1)
    assert cluster["tasks"]["running"] == 1
    assert cluster["leadership"]["leader_server_id"] == "server-1"
    (task,) = taken(viewer.get("/tasks?state=running"))["items"]
    assert task == taken(viewer.get(path))
    assert (task["task_id"], task["server_id"], task["partner_code"]) == (grant["task_id"], "server-1", "acme")
    (account,) = taken(viewer.get("/accounts"))["items"]
    assert (account["task_state"], account["row_version"]) == ("running", 1)
    (server,) = taken(viewer.get("/servers"))["items"]
    assert (server["boot_id"], server["running"], server["slots"]) == (daemon.boot_id, 1, 3)
    assert UUID(server["boot_id"])
    assert taken(viewer.get("/tasks?state=queued"))["items"] == []


def test_pages_go_on_after_the_last_key(client_of: Clients, seed: Seed) -> None:
    ids = [seed.account("shopify", size=1) for _ in range(5)]
    viewer = client_of("vera", Role.VIEWER)
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = taken(viewer.get(f"/accounts?limit=2&after={after}"))
        seen += [item["account_id"] for item in page["items"]]
        after = page["next_after"]
    assert seen == ids


@pytest.mark.parametrize("query", ["limit=0", "limit=101", "limit=x", "after=-1", "after=x", "surprise=1", "state=odd"])
def test_a_page_that_cannot_be_asked_for_is_named(client_of: Clients, query: str) -> None:
    document = refused(client_of("vera", Role.VIEWER).get(f"/tasks?{query}"), 422, "invalid_input")
    assert list(document["errors"]) == [query.partition("=")[0]]


@pytest.mark.parametrize("name", ["%F0%9F%98%80", "%C3%A9", "%00"])
def test_a_name_that_no_server_can_have_is_refused(client_of: Clients, name: str) -> None:
    document = refused(client_of("vera", Role.VIEWER).get(f"/servers?after={name}"), 422, "invalid_input")
    assert list(document["errors"]) == ["after"]


def test_an_operator_pauses_resumes_and_cancels(daemon: Daemon, client_of: Clients, seed: Seed) -> None:
    plan(daemon, daemon.lead())
    operator = client_of("ann", Role.OPERATOR)
    (account,) = taken(operator.get("/accounts"))["items"]
    path = f"/accounts/{account['account_id']}"
    paused = taken(operator.post(f"{path}/pause", {"row_version": 1}))
    assert (paused["paused"], paused["row_version"], paused["task_state"]) == (True, 2, "held")
    assert daemon.acquire().status_code == 204
    document = refused(operator.post(f"{path}/resume", {"row_version": 1}), 409, "row_version_conflict")
    assert document["row_version"] == 2
    assert taken(operator.post(f"{path}/resume", {"row_version": 2}))["task_state"] == "queued"
    (task,) = taken(operator.get("/tasks"))["items"]
    assert taken(operator.send("POST", f"/tasks/{task['task_id']}/cancel"))["state"] == "cancelled"
    refused(operator.send("POST", f"/tasks/{task['task_id']}/cancel"), 409, "task_ended")
    refused(operator.post("/accounts/999/pause", {"row_version": 1}), 404, "not_found")
    entries = seed.rows("SELECT actor, action, request_id FROM audit_log WHERE actor = 'ann' ORDER BY audit_id")
    assert [entry["action"] for entry in entries] == ["account.pause", "account.resume", "task.cancel"]
    assert all(len(entry["request_id"]) == 36 for entry in entries)


def test_a_cancelled_crawl_is_told_so(daemon: Daemon, client_of: Clients) -> None:
    path, owner, _ = started(daemon)
    assert taken(client_of("ann", Role.OPERATOR).send("POST", f"{path}/cancel"))["state"] == "running"
    assert taken(daemon.client.put(f"{path}/batches/1", batch_of(owner)), 201)["cancel"] is True


def test_a_new_policy_is_noticed_by_its_digest(daemon: Daemon, database: Database) -> None:
    before = daemon.client.get("/leadership").headers["Policy-Digest"]
    database.transaction(lambda tx: policies.change(tx, {"slots_per_server": 2}, Actor("test"), tx.now()))
    after = daemon.client.get("/leadership").headers["Policy-Digest"]
    assert before != after
    served = taken(daemon.client.get("/policy"))
    assert (served["digest"], served["policy"]["slots_per_server"], served["version"]) == (after, 2, 1)


def test_logs_name_requests_and_no_secrets(daemon: Daemon) -> None:
    with capture_logs() as lines:
        _, _, grant = started(daemon)
    assert grant["credentials"]["values"] == {"token": "a secret token"}
    assert {line["path"] for line in lines if line["event"] == "request"} >= {"/api/v1/plan", "/api/v1/tasks/acquire"}
    assert "a secret token" not in json.dumps(lines, default=str)


def test_the_description_of_the_api_is_whole(app: Flask) -> None:
    response = app.test_client().get("/api/v1/openapi.json")
    document = response.get_json()
    assert document["openapi"] == "3.1.0"
    references = {text.split('"')[0] for text in json.dumps(document).split('"$ref": "')[1:]}
    for reference in references:
        node: Any = document
        for name in reference.removeprefix("#/").split("/"):
            node = node[name]
    operations = [
        operation for path in document["paths"].values() for name, operation in path.items() if name != "parameters"
    ]
    assert len(operations) == 26
    for operation in operations:
        assert operation["summary"]
        assert operation["responses"]["default"] == {"$ref": "#/components/responses/DEFAULT_ERROR"}
