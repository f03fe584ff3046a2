"""The worker's side of the protocol: signed requests to the coordinator, each attempt signed afresh.

Errors come back as the problems that the coordinator raised. What never reached it, or was answered by something that
is not the coordinator, is ``CoordinatorUnreachableError``.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec
import structlog
from tenacity import RetryCallState, Retrying, retry_if_exception
from tenacity.wait import wait_random_exponential

from shared.problems import (
    DatabaseUnavailable,
    NonceReplayed,
    Problem,
    SignatureExpired,
    TooManyRequests,
    from_document,
)
from shared.signing import Signer
from worker.connectors.failures import ConnectorFailure
from worker.connectors.seam import Response
from worker.transport import Transport

API = "/api/v1"
MAX_BACKOFF_SECONDS = 10.0
_log = structlog.get_logger(__name__)


class CoordinatorUnreachableError(Exception):
    """Nobody knows whether the request took effect: repeat it, or let the lease end."""


@dataclass(frozen=True)
class Answer:
    """A successful answer; ``sent_at`` is the monotonic instant before its request left (leases count from there)."""

    status: int
    document: dict[str, Any]
    headers: Mapping[str, str]
    sent_at: float


class CoordinatorClock:
    """The coordinator's wall clock as signatures need it: ours, plus what its answers taught."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self._wall = wall
        self._offset_seconds = 0.0

    def now(self) -> int:
        """Seconds since 1970 by the coordinator's clock."""
        return int(self._wall() + self._offset_seconds)

    def learn(self, now: str) -> None:
        """Take the coordinator's time (RFC 3339) from an answer."""
        self._offset_seconds = datetime.fromisoformat(now).timestamp() - self._wall()


class Client:
    """Speaks to the coordinator; ``on_policy_digest`` hears the digest that each answer carries."""

    def __init__(
        self,
        transport: Transport,
        key_id: str,
        secret: bytes,
        *,
        on_policy_digest: Callable[[str], None] = lambda _: None,
        clock: CoordinatorClock | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._transport = transport
        self._clock = clock or CoordinatorClock()
        self._signer = Signer(key_id, secret, now=self._clock.now)
        self._monotonic = monotonic
        self.on_policy_digest = on_policy_digest

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        deadline_seconds: float = 10.0,
    ) -> Answer:
        """Make one attempt; a clock that was off is set right and the request repeated once.

        ``path`` stands below ``/api/v1``; a mapping is sent as JSON, bytes as they are. Raises ``Problem`` or
        ``CoordinatorUnreachableError``.
        """
        content = body if isinstance(body, bytes) else b"" if body is None else msgspec.json.encode(body)
        try:
            return self._attempt(method, path, content, deadline_seconds)
        except SignatureExpired as problem:
            if not isinstance(problem.members.get("now"), str):
                raise
            _log.warning("clock_off", coordinator_now=problem.members["now"])
            self._clock.learn(problem.members["now"])
            return self._attempt(method, path, content, deadline_seconds)

    def persist(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | bytes | None = None,
        *,
        until: Callable[[], bool],
        wait: Callable[[float], object],
        deadline_seconds: float = 10.0,
    ) -> Answer:
        """Attempt until an answer comes that is not temporary, or ``until()`` says to give up.

        ``wait`` sleeps between attempts, for capped and jittered times; an event's ``wait`` makes it interruptible.
        Raises what ``call`` raises, the last failure when it gave up.
        """
        retrying = Retrying(
            retry=retry_if_exception(is_temporary),
            stop=lambda _: until(),
            wait=_pause,
            sleep=lambda seconds: _ignore(wait(seconds)),
            before_sleep=lambda state: _tell(method, path, state),
            reraise=True,
        )
        return retrying(self.call, method, path, body, deadline_seconds=deadline_seconds)

    def _attempt(self, method: str, path: str, content: bytes, deadline_seconds: float) -> Answer:
        origin = self._transport.origin
        target = f"{origin.prefix}{API}{path}"
        headers = self._signer.headers(method, origin.authority, target, content)
        headers["Accept"] = "application/json"
        if content:
            headers["Content-Type"] = "application/json"
        url = f"{origin.scheme}://{origin.authority}{target}"
        sent_at = self._monotonic()
        try:
            response = self._transport.send(method, url, headers, content, deadline_seconds)
        except ConnectorFailure as failure:
            raise CoordinatorUnreachableError(str(failure)) from failure
        if digest := response.headers.get("policy-digest"):
            self.on_policy_digest(digest)
        return Answer(response.status, _document(response), response.headers, sent_at)


def is_temporary(error: BaseException) -> bool:
    """Whether the same request may succeed a little later.

    A nonce is seen twice when a proxy on the way repeats a request: nobody knows what the first one did, and the next
    attempt is signed afresh.
    """
    return isinstance(error, CoordinatorUnreachableError | DatabaseUnavailable | NonceReplayed | TooManyRequests)


def _ignore(_: object) -> None:
    """What an event's ``wait`` returns is of no interest to the library."""


def _tell(method: str, path: str, state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    _log.warning("request_repeated", method=method, path=path, attempt=state.attempt_number, error=str(error))


_exponential = wait_random_exponential(multiplier=0.25, max=MAX_BACKOFF_SECONDS)


def _pause(state: RetryCallState) -> float:
    """Full jitter, capped; at least what the coordinator asked for."""
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after_seconds if isinstance(error, Problem) else None
    return max(_exponential(state), min(asked or 0.0, MAX_BACKOFF_SECONDS))


def _document(response: Response) -> dict[str, Any]:
    """The answer's JSON object; an error is raised as its problem."""
    success = response.status in (200, 201, 204)
    if response.status == 204:
        return {}
    try:
        document = msgspec.json.decode(response.body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise CoordinatorUnreachableError(f"answered {response.status} with something that is not JSON") from error
    if success:
        return document
    if "code" not in document:
        raise CoordinatorUnreachableError(f"answered {response.status} without a code")
    problem = from_document(response.status, document, retry_after(response.headers))
    if response.status >= 500 and not isinstance(problem, DatabaseUnavailable):
        raise CoordinatorUnreachableError(f"answered {response.status}: {problem.detail}") from problem
    raise problem


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The answer's Retry-After in seconds, if it has a sane one (the coordinator sends no dates)."""
    try:
        seconds = float(headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return seconds if 0 <= seconds <= 3600 else None
