"""Typed errors of the protocol: raised on one side, carried as RFC 9457 documents, raised again on the other.

Each stable ``code`` is one class. ``detail`` says what was wrong and what to do about it; ``members`` are the
document's extension members (RFC 9457 section 3.2), for callers that must act on a value.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

MEDIA_TYPE = "application/problem+json"


class Problem(Exception):  # noqa: N818 - the standard's own word
    """An answer that is an error; subclasses fix status, code and title."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    title: ClassVar[str] = "The coordinator failed"

    def __init__(self, detail: str = "", *, retry_after_seconds: float | None = None, **members: Any) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.retry_after_seconds = retry_after_seconds
        self.members = members

    def to_document(self) -> dict[str, Any]:
        """The body of the answer, without anything that the caller did not name."""
        standard = {
            "type": "about:blank",
            "status": self.status,
            "code": self.code,
            "title": self.title,
            "detail": self.detail,
        }
        return {**self.members, **standard}


_STANDARD_MEMBERS = frozenset({"type", "status", "code", "title", "detail", "instance"})


def from_document(status: int, document: Mapping[str, Any], retry_after_seconds: float | None = None) -> Problem:
    """The problem that a document stands for.

    A code that this side does not know becomes the class of its status (``UnknownProblem`` keeps both), so a new
    coordinator can speak to an old worker.
    """
    code, detail = str(document.get("code", "")), str(document.get("detail", ""))
    members = {name: value for name, value in document.items() if name not in _STANDARD_MEMBERS}
    members.pop("retry_after_seconds", None)
    kind = BY_CODE.get(code)
    if kind is None:
        return UnknownProblem(status, code, detail, retry_after_seconds, members)
    problem = kind(detail, retry_after_seconds=retry_after_seconds)
    problem.members = members
    return problem


class UnknownProblem(Problem):
    """An answer whose code this version does not know; ``status`` and ``code`` are those that came."""

    def __init__(
        self, status: int, code: str, detail: str, retry_after_seconds: float | None, members: dict[str, Any]
    ) -> None:
        super().__init__(detail or f"HTTP {status}", retry_after_seconds=retry_after_seconds)
        self.members = members
        self.received_status = status
        self.received_code = code


# --- 401, 403: who is asking


class Unauthorized(Problem):
    """The request is not proven to come from a key holder."""

    status = 401


class SignatureInvalid(Unauthorized):
    """No signature, a bad one, an unknown or revoked key, or a profile that is not ours."""

    code = "signature_invalid"
    title = "The signature is missing or invalid"


class SignatureExpired(Unauthorized):
    """``created`` lies outside the window; member ``now`` is the coordinator's time."""

    code = "signature_expired"
    title = "The signature was made too long ago or too far ahead"


class NonceReplayed(Unauthorized):
    """The nonce was used before: a replay, or a retry that was not signed afresh."""

    code = "nonce_replayed"
    title = "The request was seen before"


class Forbidden(Problem):
    """The key may not act for that server or in that role."""

    status = 403
    code = "forbidden"
    title = "The key may not do this"


# --- 404, 405, 413, 415, 422, 429: what is asked


class NotFound(Problem):
    """Nothing by that name."""

    status = 404
    code = "not_found"
    title = "There is no such thing"


class MethodNotAllowed(Problem):
    """The path exists, the method does not."""

    status = 405
    code = "method_not_allowed"
    title = "The method is not allowed here"


class BodyTooLarge(Problem):
    """The body is over its cap (64 KiB; a batch 4 MiB)."""

    status = 413
    code = "body_too_large"
    title = "The body is too large"


class UnsupportedMediaType(Problem):
    """Something other than JSON."""

    status = 415
    code = "unsupported_media_type"
    title = "The body must be JSON"


class InvalidInput(Problem):
    """Fields that cannot be taken; member ``errors`` maps each field to what is wrong with it."""

    status = 422
    code = "invalid_input"
    title = "The input is invalid"


class TooManyRequests(Problem):
    """Ask later."""

    status = 429
    code = "too_many_requests"
    title = "Too many requests"


class DatabaseUnavailable(Problem):
    """The database is away or refused the commit; nothing is known to have happened, so ask again, signed anew."""

    status = 503
    code = "database_unavailable"
    title = "The database is not available"


# --- 409: conflicts of state


class Conflict(Problem):
    """The request was understood and does not fit what is stored."""

    status = 409


class ServerNotRegistered(Conflict):
    """The server never registered, or deregistered."""

    code = "server_not_registered"
    title = "The server is not registered"


class ServerDraining(Conflict):
    """A draining server takes nothing new."""

    code = "server_draining"
    title = "The server is draining"


class BootSuperseded(Conflict):
    """Another boot of this server registered since: the process exits and does not register again."""

    code = "boot_superseded"
    title = "Another boot of this server has taken over"


class ServerIdInUse(Conflict):
    """Another machine runs this server_id and was heard of less than 30 s ago."""

    code = "server_id_in_use"
    title = "The server_id is in use on another machine"


class StaleFencingToken(Conflict):
    """The caller is not the current leader; member ``fencing_token`` is the current one."""

    code = "stale_fencing_token"
    title = "Another term has begun"


class LeaseExpired(Conflict):
    """The caller's term is the last one, but its lease has ended."""

    code = "lease_expired"
    title = "The leadership lease has ended"


class PlanConflict(Conflict):
    """The plan_id was used for other tasks."""

    code = "plan_conflict"
    title = "The plan_id was used for another plan"


class StaleRequest(Conflict):
    """An acquire_seq smaller than one already served; member ``acquire_seq`` is the last served."""

    code = "stale_request"
    title = "A later acquire was already served"


class StaleTaskOwner(Conflict):
    """The caller does not own the task (any more): drop it at once."""

    code = "stale_task_owner"
    title = "The task has another owner"


class TaskStalled(Conflict):
    """No page for progress_timeout_seconds: the lease is no longer extended."""

    code = "task_stalled"
    title = "The crawl makes no progress"


class BatchConflict(Conflict):
    """The batch number was applied with other content."""

    code = "batch_conflict"
    title = "The batch was applied with other content"


class BatchGap(Conflict):
    """Batches before this one are missing; member ``expected_batch_no`` is the next number."""

    code = "batch_gap"
    title = "A batch is missing before this one"


class CheckpointRegression(Conflict):
    """The batch would move the checkpoint back (I7); members carry the stored values."""

    code = "checkpoint_regression"
    title = "The checkpoint would move back"


class BatchesMissing(Conflict):
    """A completion that names another last batch than the ledger's; member ``last_batch_no``."""

    code = "batches_missing"
    title = "The ledger ends at another batch"


class CompletionConflict(Conflict):
    """The task was completed before, otherwise (I9)."""

    code = "completion_conflict"
    title = "The task was completed otherwise"


class CredentialsConflict(Conflict):
    """The credentials changed since that version; member ``version`` is the current one."""

    code = "credentials_conflict"
    title = "The credentials have changed meanwhile"


class RowVersionConflict(Conflict):
    """An operator's write on a row that changed since it was read; member ``row_version``."""

    code = "row_version_conflict"
    title = "The row has changed since it was read"


class TaskEnded(Conflict):
    """The verb needs an active task, and this one has ended."""

    code = "task_ended"
    title = "The task has ended"


def _subclasses(kind: type[Problem]) -> list[type[Problem]]:
    return [kind, *(found for child in kind.__subclasses__() for found in _subclasses(child))]


BY_CODE: Mapping[str, type[Problem]] = {kind.code: kind for kind in _subclasses(Problem) if "code" in vars(kind)}
