"""The envelopes: what a caller may send, what is refused with its field named, and that answers survive the wire."""

import json
import uuid
from datetime import datetime
from typing import Any

import pytest
from marshmallow import Schema, ValidationError

from shared.states import Enumeration, Progress, SizeClass, TaskState
from shared.wire.fields import NOT_AN_INSTANT
from shared.wire.identity import Boot, Fenced
from shared.wire.leadership import LeadershipAnswer
from shared.wire.plan import (
    Candidate,
    CandidatesAnswer,
    CandidatesQuery,
    HousekeepingAnswer,
    PlanAnswer,
    PlannedTask,
    PlanRequest,
)
from shared.wire.policy import PolicyAnswer
from shared.wire.servers import (
    DeregisterRequest,
    RegisterAnswer,
    RegisterRequest,
    ServerHeartbeatAnswer,
    ServerHeartbeatRequest,
)
from shared.wire.tasks import (
    AcquireAnswer,
    AcquireRequest,
    BatchAnswer,
    CompleteRequest,
    CredentialsAnswer,
    CredentialsRequest,
    FailRequest,
    OutcomeAnswer,
    ReleaseRequest,
    TaskHeartbeatAnswer,
    TaskHeartbeatRequest,
)

NOON = "2030-01-01T12:00:00.000000Z"
BOOT = {"server_id": "server-1", "boot_id": "00000000-0000-0000-0000-000000000001"}
FENCED = {**BOOT, "fencing_token": 1}
TASK = {"account_id": 3, "due_at": NOON, "size": 50, "size_class": "small", "dispatch_key": NOON}
TELEMETRY = {"cpu_percent": 12.5, "rss_bytes": 2**40, "running_tasks": 3}
CHECKPOINT = {
    "epoch": 1,
    "current_page": 2,
    "last_cursor_token": "after-2",
    "processed_count": 200,
    "total_discovered_count": None,
}
COUNTERS = {name: value for name, value in CHECKPOINT.items() if name != "epoch"}
ORDERS = {
    "lease_remaining_seconds": 60.0,
    "cancel": False,
    "yield": True,
    "drain": False,
    "credentials_version": None,
}
ACCOUNT = {
    "account_id": 3,
    "marketplace_code": "shopify",
    "account_ref": "seller 7",
    "settings": {"shop": {"id": 7}},
    "size": None,
}
REQUESTS: list[tuple[type[Schema], dict[str, Any]]] = [
    (Boot, BOOT),
    (Fenced, FENCED),
    (
        RegisterRequest,
        {
            "boot_id": BOOT["boot_id"],
            "machine_id": "0123456789abcdef",
            "hostname": "crawler-1.example",
            "version": "0.1.0+local",
            "marketplaces": [{"marketplace_code": "shopify", "cursor_format": "rest/1"}],
        },
    ),
    (ServerHeartbeatRequest, {"boot_id": BOOT["boot_id"], "telemetry": TELEMETRY}),
    (DeregisterRequest, {"boot_id": BOOT["boot_id"]}),
    (PlanRequest, {**FENCED, "plan_id": str(uuid.UUID(int=5)), "tasks": [TASK]}),
    (AcquireRequest, {**BOOT, "acquire_seq": 1}),
    (TaskHeartbeatRequest, {**FENCED, **COUNTERS, "rate_limit_wait_seconds": 1.5}),
    (CompleteRequest, {**FENCED, "last_batch": 0, "processed_count": 0, "enumeration": "proven"}),
    (
        FailRequest,
        {
            **FENCED,
            "error": {"code": "bad_credentials", "message": ""},
            "retryable": False,
            "retry_after_seconds": None,
        },
    ),
    (ReleaseRequest, {**FENCED, "reason": "drain"}),
    (CredentialsRequest, {**FENCED, "version": 1, "values": {"token": "x"}}),
]
ANSWERS: list[tuple[type[Schema], dict[str, Any]]] = [
    (
        LeadershipAnswer,
        {
            "elected": True,
            "fencing_token": 7,
            "lease_remaining_seconds": 14.999999,
            "leader_server_id": "server-1",
            "eligible_at": NOON,
        },
    ),
    (
        LeadershipAnswer,
        {
            "elected": False,
            "fencing_token": 0,
            "lease_remaining_seconds": 0.0,
            "leader_server_id": None,
            "eligible_at": None,
        },
    ),
    (
        CandidatesAnswer,
        {
            "candidates": [{"account_id": 3, "marketplace_code": "n11", "size": None, "due_at": NOON, "yields": True}],
            "longest_refresh_interval_seconds": 86_400.0,
        },
    ),
    (PlanAnswer, {"created": 1, "skipped": 2}),
    (
        HousekeepingAnswer,
        {"nonces_deleted": 1, "tasks_recovered": 2, "tasks_woken": 3, "history_deleted": 4},
    ),
    (PolicyAnswer, {"version": 0, "digest": "0" * 64, "policy": {"slots_per_server": 3, "must_understand": ["x"]}}),
    (RegisterAnswer, {"policy": {"slots_per_server": 3}, "policy_digest": "0" * 64, "now": NOON}),
    (ServerHeartbeatAnswer, {"drain": True, "policy_digest": "0" * 64, "now": NOON}),
    (
        AcquireAnswer,
        {
            "task_id": 9,
            "fencing_token": 2,
            "lease_seconds": 60.0,
            "lease_remaining_seconds": 60.0,
            "size_class": "probe",
            "enumeration": "guessed",
            "last_batch_no": 4,
            "account": ACCOUNT,
            "credentials": {"version": 2, "values": {"token": "x", "expires": 3}},
            "checkpoint": CHECKPOINT,
        },
    ),
    (TaskHeartbeatAnswer, {**ORDERS, **COUNTERS, "progress": "stale"}),
    (
        BatchAnswer,
        {
            **ORDERS,
            "batch_no": 1,
            "replayed": False,
            "appeared": 1,
            "changed": 2,
            "unchanged": 3,
            "duplicates": 4,
            "rejected": 5,
        },
    ),
    (OutcomeAnswer, {"state": "delayed", "eligible_at": NOON}),
    (CredentialsAnswer, {"version": 3}),
]


def named(pairs: list[tuple[type[Schema], dict[str, Any]]]) -> dict[str, Any]:
    return {"argvalues": pairs, "ids": [schema.__name__ for schema, _ in pairs]}


@pytest.mark.parametrize(("schema", "document"), **named(REQUESTS + ANSWERS))
def test_what_one_side_dumps_the_other_loads(schema: type[Schema], document: dict[str, Any]) -> None:
    loaded = schema().load(document)
    assert json.loads(json.dumps(schema().dump(loaded))) == document


@pytest.mark.parametrize(("schema", "document"), **named(REQUESTS + ANSWERS))
def test_a_member_that_is_not_known_is_refused(schema: type[Schema], document: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as caught:
        schema().load({**document, "surprise": 1})
    assert list(caught.value.normalized_messages()) == ["surprise"]


@pytest.mark.parametrize(("schema", "document"), **named(REQUESTS + ANSWERS))
def test_a_member_that_is_missing_is_named(schema: type[Schema], document: dict[str, Any]) -> None:
    optional = {"rate_limit_wait_seconds", "retry_after_seconds"}
    with pytest.raises(ValidationError) as caught:
        schema().load({})
    assert set(caught.value.normalized_messages()) == set(document) - optional


@pytest.mark.parametrize(("schema", "document"), **named(REQUESTS))
@pytest.mark.parametrize("value", [None, [], {}, "", "1", True, -1, 1.5, float("nan"), 2**64, "\x00"], ids=repr)
def test_no_value_of_any_kind_is_more_than_refused(schema: type[Schema], document: dict[str, Any], value: Any) -> None:
    for name in document:
        assert set(schema().validate({**document, name: value})) <= {name}


class TestIdentity:
    @pytest.mark.parametrize("server_id", ["a", "0", "server-1.rack_2", "x" * 64])
    def test_names(self, server_id: str) -> None:
        Boot().load({**BOOT, "server_id": server_id})

    @pytest.mark.parametrize("server_id", ["", "A", "-a", ".a", "a b", "a\n", "ü", "x" * 65, 7, None])
    def test_what_is_no_name(self, server_id: object) -> None:
        refuses(Boot, {**BOOT, "server_id": server_id}, "server_id")

    @pytest.mark.parametrize("boot_id", ["", "x", "0" * 31, 7, None])
    def test_what_is_no_boot(self, boot_id: object) -> None:
        refuses(Boot, {**BOOT, "boot_id": boot_id}, "boot_id")

    @pytest.mark.parametrize("token", [0, -1, 2**63, "1", 1.0, True, None])
    def test_what_is_no_token(self, token: object) -> None:
        refuses(Fenced, {**FENCED, "fencing_token": token}, "fencing_token")

    def test_the_greatest_token(self) -> None:
        assert Fenced().load({**FENCED, "fencing_token": 2**63 - 1})["fencing_token"] == 2**63 - 1


class TestInstants:
    @pytest.mark.parametrize(
        ("text", "instant"),
        [
            ("2030-01-01T12:00:00.000001Z", datetime(2030, 1, 1, 12, 0, 0, 1)),
            ("2030-01-01T12:00:00Z", datetime(2030, 1, 1, 12)),
        ],
    )
    def test_they_are_naive_utc_to_the_microsecond(self, text: str, instant: datetime) -> None:
        assert Candidate(only=["due_at"]).load({"due_at": text})["due_at"] == instant

    @pytest.mark.parametrize(
        "text", ["", "Z", "now", "2030-01-01T12:00:00", "2030-01-01T12:00:00+00:00", "2030-13-01T00:00:00Z", 0, None]
    )
    def test_what_is_none(self, text: object) -> None:
        messages = refuses(Candidate, {"due_at": text}, "due_at", only=["due_at"])
        assert messages[0] in {NOT_AN_INSTANT, "Field may not be null."}


class TestPlans:
    def test_accounts_come_in_order_and_once(self) -> None:
        plan = {**FENCED, "plan_id": str(uuid.UUID(int=5))}
        two = [{**TASK, "account_id": 3}, {**TASK, "account_id": 4}]
        PlanRequest().load({**plan, "tasks": two})
        for wrong in ([*reversed(two)], [two[0], two[0]], [], [TASK] * 101, [None], "x"):
            refuses(PlanRequest, {**plan, "tasks": wrong}, "tasks")

    def test_a_hundred_tasks_are_enough(self) -> None:
        tasks = [{**TASK, "account_id": n} for n in range(1, 102)]
        plan = {**FENCED, "plan_id": str(uuid.UUID(int=5))}
        PlanRequest().load({**plan, "tasks": tasks[:100]})
        refuses(PlanRequest, {**plan, "tasks": tasks}, "tasks")

    @pytest.mark.parametrize(("size", "size_class"), [(None, "small"), (None, "large"), (50, "probe")])
    def test_a_probe_is_a_task_of_unknown_size(self, size: int | None, size_class: str) -> None:
        refuses(PlannedTask, {**TASK, "size": size, "size_class": size_class}, "size_class")

    def test_a_key_does_not_lie_before_the_due_time(self) -> None:
        refuses(PlannedTask, {**TASK, "dispatch_key": "2030-01-01T11:59:59.999999Z"}, "dispatch_key")

    def test_a_loaded_task_is_typed(self) -> None:
        loaded = PlannedTask().load(TASK)
        assert (loaded["size_class"], loaded["due_at"]) == (SizeClass.SMALL, datetime(2030, 1, 1, 12))

    @pytest.mark.parametrize(("query", "limit"), [({}, 100), ({"limit": "1"}, 1), ({"limit": "100"}, 100)])
    def test_how_many_candidates(self, query: dict[str, str], limit: int) -> None:
        assert CandidatesQuery().load(query) == {"limit": limit}

    @pytest.mark.parametrize("limit", ["0", "101", "-1", "x", ""])
    def test_how_many_candidates_not(self, limit: str) -> None:
        refuses(CandidatesQuery, {"limit": limit}, "limit")


class TestTasks:
    def test_a_cursor_is_bounded_in_bytes(self) -> None:
        heartbeat = {**FENCED, **COUNTERS}
        TaskHeartbeatRequest().load({**heartbeat, "last_cursor_token": "é" * 2048})
        refuses(TaskHeartbeatRequest, {**heartbeat, "last_cursor_token": "é" * 2049}, "last_cursor_token")

    def test_what_may_be_left_out(self) -> None:
        heartbeat = TaskHeartbeatRequest().load({**FENCED, **COUNTERS})
        assert heartbeat["rate_limit_wait_seconds"] == 0
        failure = FailRequest().load({**FENCED, "error": {"code": "x", "message": "m"}, "retryable": True})
        assert failure["retry_after_seconds"] is None

    @pytest.mark.parametrize("code", ["", "Bad", "1st", "a" * 65, "a b", "a\n"])
    def test_an_error_has_a_stable_code(self, code: str) -> None:
        failure = {**FENCED, "error": {"code": code, "message": "m"}, "retryable": True}
        refuses(FailRequest, failure, "error")

    def test_loaded_words_are_typed(self) -> None:
        completion = {**FENCED, "last_batch": 3, "processed_count": 300, "enumeration": "guessed"}
        assert CompleteRequest().load(completion)["enumeration"] is Enumeration.GUESSED
        assert OutcomeAnswer().load({"state": "queued", "eligible_at": None})["state"] is TaskState.QUEUED
        answer = TaskHeartbeatAnswer().load({**ORDERS, **COUNTERS, "progress": "recorded"})
        assert (answer["progress"], answer["yield_"]) == (Progress.RECORDED, True)


class TestServers:
    @pytest.mark.parametrize("member", ["cpu_percent", "rss_bytes", "running_tasks"])
    @pytest.mark.parametrize("value", [-1, "1", True, None, float("inf"), 2**64])
    def test_telemetry_is_numbers_that_fit(self, member: str, value: object) -> None:
        heartbeat = {"boot_id": BOOT["boot_id"], "telemetry": {**TELEMETRY, member: value}}
        assert member in refuses(ServerHeartbeatRequest, heartbeat, "telemetry")

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("machine_id", "Not a name"),
            ("hostname", ""),
            ("hostname", "x" * 256),
            ("version", "1 0"),
            ("marketplaces", [{"marketplace_code": "x" * 33, "cursor_format": "rest/1"}]),
            ("marketplaces", [{"marketplace_code": "n11", "cursor_format": "rest 1"}]),
            ("marketplaces", [{"marketplace_code": "n11"}]),
            ("marketplaces", [{"marketplace_code": "n11", "cursor_format": "rest/1"}] * 257),
        ],
    )
    def test_a_registration_is_bounded(self, member: str, value: object) -> None:
        registration = next(document for schema, document in REQUESTS if schema is RegisterRequest)
        refuses(RegisterRequest, {**registration, member: value}, member)


def refuses(schema: type[Schema], document: dict[str, Any], member: str, **options: Any) -> Any:
    """What is said about that member, which is the only one that is wrong."""
    with pytest.raises(ValidationError) as caught:
        schema(**options).load(document)
    messages = caught.value.normalized_messages()
    assert list(messages) == [member]
    return messages[member]
