"""Pages for people: tasks, accounts and servers, each page asked for by the last key of the one before."""

from marshmallow import Schema, fields, validate

from shared.states import SizeClass, TaskState
from shared.wire.fields import MAX_TOKEN, Count, Instant

MAX_PAGE = 100


class _PageQuery(Schema):
    limit = fields.Integer(load_default=MAX_PAGE, validate=validate.Range(min=1, max=MAX_PAGE))


class AccountsQuery(_PageQuery):
    """``GET /accounts?after=&limit=``: those whose number follows ``after``."""

    after = fields.Integer(load_default=0, validate=validate.Range(min=0, max=MAX_TOKEN))


class TasksQuery(AccountsQuery):
    """``GET /tasks?after=&limit=&state=``: those of one state, or all."""

    state = fields.Enum(TaskState, by_value=True, load_default=None)


class ServersQuery(_PageQuery):
    """``GET /servers?after=&limit=``: those whose name follows ``after``."""

    after = fields.String(
        load_default="",
        validate=validate.Regexp(r"[a-z0-9._-]{0,64}\Z", error="must be a name of at most 64 characters"),
    )


class TaskLine(Schema):
    """A crawl task; the counters are what its owner claims while it runs, what is durable otherwise."""

    task_id = fields.Integer(required=True)
    account_id = fields.Integer(required=True)
    partner_code = fields.String(required=True)
    marketplace_code = fields.String(required=True)
    account_ref = fields.String(required=True)
    state = fields.Enum(TaskState, by_value=True, required=True)
    size_class = fields.Enum(SizeClass, by_value=True, required=True)
    size = Count(required=True, allow_none=True)
    due_at = Instant(required=True)
    dispatch_key = Instant(required=True)
    eligible_at = Instant(required=True, allow_none=True)
    server_id = fields.String(required=True, allow_none=True)
    fencing_token = fields.Integer(required=True)
    acquired_at = Instant(required=True, allow_none=True)
    lease_expires_at = Instant(required=True, allow_none=True)
    epoch = Count(required=True)
    current_page = Count(required=True)
    processed_count = Count(required=True)
    total_discovered_count = Count(required=True, allow_none=True)
    attempts = Count(required=True)
    cancel_requested = fields.Boolean(required=True)
    error_code = fields.String(required=True, allow_none=True)
    error_message = fields.String(required=True, allow_none=True)
    created_at = Instant(required=True)
    ended_at = Instant(required=True, allow_none=True)


class AccountLine(Schema):
    """An account; ``row_version`` is what an operator's verb on it must name."""

    account_id = fields.Integer(required=True)
    partner_code = fields.String(required=True)
    marketplace_code = fields.String(required=True)
    account_ref = fields.String(required=True)
    refresh_interval_seconds = Count(required=True)
    size = Count(required=True, allow_none=True)
    next_due_at = Instant(required=True)
    crawl_no = Count(required=True)
    consecutive_failures = Count(required=True)
    last_completed_at = Instant(required=True, allow_none=True)
    paused = fields.Boolean(required=True)
    suspended_at = Instant(required=True, allow_none=True)
    task_id = fields.Integer(required=True, allow_none=True)
    task_state = fields.Enum(TaskState, by_value=True, required=True, allow_none=True)
    row_version = Count(required=True)


class ServerLine(Schema):
    """A server, what it runs, and the last sample of its telemetry."""

    server_id = fields.String(required=True)
    boot_id = fields.UUID(required=True)
    hostname = fields.String(required=True)
    version = fields.String(required=True)
    registered_at = Instant(required=True)
    last_heartbeat_at = Instant(required=True)
    draining = fields.Boolean(required=True)
    paused = fields.Boolean(required=True)
    deregistered_at = Instant(required=True, allow_none=True)
    slots = Count(required=True)
    running = Count(required=True)
    cpu_percent = fields.Float(required=True, allow_none=True)
    rss_bytes = fields.Integer(required=True, allow_none=True)
    row_version = Count(required=True)


class TasksPage(Schema):
    """Some tasks; ``next_after`` asks for those that follow, null says that there are none."""

    items = fields.List(fields.Nested(TaskLine), required=True)
    next_after = fields.Integer(required=True, allow_none=True)


class AccountsPage(Schema):
    """Some accounts, likewise."""

    items = fields.List(fields.Nested(AccountLine), required=True)
    next_after = fields.Integer(required=True, allow_none=True)


class ServersPage(Schema):
    """Some servers, likewise."""

    items = fields.List(fields.Nested(ServerLine), required=True)
    next_after = fields.String(required=True, allow_none=True)
