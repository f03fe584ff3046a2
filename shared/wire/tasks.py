"""A task's life: acquire, heartbeat, batches, completion, failure, release, credentials."""

from marshmallow import Schema, fields, validate

from shared.states import Enumeration, Progress, SizeClass, TaskState
from shared.wire.fields import Count, CursorToken, FencingToken, Instant, MarketplaceCode, RowId, Seconds
from shared.wire.identity import Boot, Fenced


class AcquireRequest(Boot):
    """``POST /tasks/acquire``; ``acquire_seq`` rises by one per boot, a retry repeats it."""

    acquire_seq = Count(required=True, least=1, most=2**63 - 1)


class Account(Schema):
    """The account to crawl; ``size`` is its last completed crawl's count."""

    account_id = RowId(required=True)
    marketplace_code = MarketplaceCode(required=True)
    account_ref = fields.String(required=True)
    settings = fields.Dict(keys=fields.String(), required=True)
    size = Count(required=True, allow_none=True)


class Credentials(Schema):
    """The account's credentials in the connector's own members, and their version."""

    version = Count(required=True)
    values = fields.Dict(keys=fields.String(), required=True)


class Checkpoint(Schema):
    """Up to where everything is durable in this epoch; crawling goes on from ``last_cursor_token``."""

    epoch = Count(required=True, least=1)
    current_page = Count(required=True)
    last_cursor_token = CursorToken(required=True)
    processed_count = Count(required=True)
    total_discovered_count = Count(required=True, allow_none=True)


class AcquireAnswer(Schema):
    """A task to crawl. The lease counts from the claim; the worker counts from before it sent the request."""

    task_id = RowId(required=True)
    fencing_token = FencingToken(required=True)
    lease_seconds = Seconds(required=True)
    lease_remaining_seconds = Seconds(required=True)
    size_class = fields.Enum(SizeClass, by_value=True, required=True)
    enumeration = fields.Enum(Enumeration, by_value=True, required=True)
    last_batch_no = Count(required=True)
    account = fields.Nested(Account, required=True)
    credentials = fields.Nested(Credentials, required=True, allow_none=True)
    checkpoint = fields.Nested(Checkpoint, required=True)


class Orders(Schema):
    """What every answer to an owner may ask: let go (``cancel``), let go at a page boundary (``yield``, ``drain``)."""

    lease_remaining_seconds = Seconds(required=True)
    cancel = fields.Boolean(required=True)
    yield_ = fields.Boolean(required=True, data_key="yield")
    drain = fields.Boolean(required=True)
    credentials_version = Count(required=True, allow_none=True)


class TaskHeartbeatRequest(Fenced):
    """``POST /tasks/{id}/heartbeat``: the counters of this epoch, in memory or durable.

    ``rate_limit_wait_seconds`` is how long the crawl has waited since its last page because the marketplace told it
    to: the progress timeout does not count it.
    """

    current_page = Count(required=True)
    last_cursor_token = CursorToken(required=True)
    processed_count = Count(required=True)
    total_discovered_count = Count(required=True, allow_none=True)
    rate_limit_wait_seconds = Seconds(load_default=0.0, most=86_400)


class TaskHeartbeatAnswer(Orders):
    """``progress`` is ``stale`` when the report was behind; the other members are the stored progress."""

    progress = fields.Enum(Progress, by_value=True, required=True)
    current_page = Count(required=True)
    last_cursor_token = CursorToken(required=True)
    processed_count = Count(required=True)
    total_discovered_count = Count(required=True, allow_none=True)


class BatchAnswer(Orders):
    """What the batch did: 201 when applied, 200 with ``replayed`` when it was applied before."""

    batch_no = Count(required=True, least=1)
    replayed = fields.Boolean(required=True)
    appeared = Count(required=True)
    changed = Count(required=True)
    unchanged = Count(required=True)
    duplicates = Count(required=True)
    rejected = Count(required=True)


class CompleteRequest(Fenced):
    """``POST /tasks/{id}/complete``: the last batch's number (0 for none) and the epoch's processed records."""

    last_batch = Count(required=True)
    processed_count = Count(required=True)
    enumeration = fields.Enum(Enumeration, by_value=True, required=True)


class TaskError(Schema):
    """Why a crawl failed: a stable code, and a message for people."""

    code = fields.String(required=True, validate=validate.Regexp(r"[a-z][a-z0-9_]{0,63}\Z"))
    message = fields.String(required=True, validate=validate.Length(max=1024))


class FailRequest(Fenced):
    """``POST /tasks/{id}/fail``; ``retry_after_seconds`` is what the marketplace demanded, if it did."""

    error = fields.Nested(TaskError, required=True)
    retryable = fields.Boolean(required=True, truthy={True}, falsy={False})
    retry_after_seconds = Seconds(load_default=None, allow_none=True, most=86_400)


class ReleaseRequest(Fenced):
    """``POST /tasks/{id}/release``: back to the queue, same key, same checkpoint, not an attempt."""

    reason = fields.String(required=True, validate=validate.OneOf(["drain", "yield"]))


class OutcomeAnswer(Schema):
    """Where the task stands now; ``eligible_at`` when it is delayed."""

    state = fields.Enum(TaskState, by_value=True, required=True)
    eligible_at = Instant(required=True, allow_none=True)


class CredentialsRequest(Fenced):
    """``PUT /tasks/{id}/credentials``: replace version ``version`` (compare-and-set), for rotating tokens."""

    version = Count(required=True)
    values = fields.Dict(keys=fields.String(), values=fields.String(validate=validate.Length(max=8192)), required=True)


class CredentialsAnswer(Schema):
    """The version that the credentials have now."""

    version = Count(required=True)
