"""What an HTTP answer, or the lack of one, means for a crawl."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from worker.connectors.documents import Path, decode
from worker.connectors.failures import (
    AccountMisconfigured,
    ConnectorFailure,
    CursorTooLong,
    CursorUnreadable,
    Misdirected,
    Overdue,
    Oversize,
    PageUnreadable,
    Unreachable,
)
from worker.connectors.rest.retry_after import retry_after_seconds
from worker.connectors.seam import Action, Response, Verdict

DEFAULT_WAIT_SECONDS = 30.0
"""For a marketplace that throttles without saying for how long."""

_BY_STATUS = {
    401: (Action.REFRESH_AUTH, "bad_credentials"),
    403: (Action.FATAL, "access_denied"),
    404: (Action.FATAL, "not_found"),
    408: (Action.RETRY, "marketplace_unavailable"),
    425: (Action.RETRY, "marketplace_unavailable"),
    429: (Action.RATE_LIMITED, "rate_limited"),
}

_BY_FAILURE: Mapping[type[ConnectorFailure], tuple[Action, str]] = {
    Unreachable: (Action.RETRY, "marketplace_unavailable"),
    Overdue: (Action.RETRY, "marketplace_unavailable"),
    PageUnreadable: (Action.RETRY, "page_unreadable"),
    Oversize: (Action.FATAL, "page_too_large"),
    Misdirected: (Action.FATAL, "foreign_origin"),
    CursorUnreadable: (Action.RESET_PAGING, "cursor_expired"),
    CursorTooLong: (Action.FATAL, "cursor_too_long"),
    AccountMisconfigured: (Action.FATAL, "account_misconfigured"),
}

_CODE_OF_ACTION = {
    Action.RETRY: "marketplace_unavailable",
    Action.RATE_LIMITED: "rate_limited",
    Action.REFRESH_AUTH: "bad_credentials",
    Action.RESET_PAGING: "cursor_expired",
    Action.FATAL: "request_refused",
}

DECLARABLE_ACTIONS = frozenset(_CODE_OF_ACTION)
"""What a description may make of a status or an error code."""


@dataclass(frozen=True, slots=True)
class ErrorMap:
    """A marketplace's own meanings: error codes in the body (found at `code_path`) come before statuses.

    `default_wait_seconds` is the pause after throttling without a Retry-After.
    """

    code_path: Path | None = None
    codes: Mapping[str, Action] = field(default_factory=dict)
    statuses: Mapping[int, Action] = field(default_factory=dict)
    default_wait_seconds: float = DEFAULT_WAIT_SECONDS

    def declared(self, response: Response) -> Action | None:
        """The action that the description gives to this answer, if any."""
        return self.codes.get(self._code(response), self.statuses.get(response.status))

    def _code(self, response: Response) -> str:
        if self.code_path is None or not self.codes:
            return ""
        try:
            code = self.code_path.find(decode(response.body))
        except PageUnreadable:
            return ""
        return code if isinstance(code, str) else ""


def of_failure(failure: ConnectorFailure) -> Verdict:
    """The verdict on a failure of the transport or of parsing."""
    if isinstance(failure, AccountMisconfigured) and failure.of_credentials:
        return Verdict(Action.REFRESH_AUTH, "bad_credentials", str(failure))
    action, code = _BY_FAILURE.get(type(failure), (Action.FATAL, "request_refused"))
    return Verdict(action, code, str(failure))


def of_response(response: Response, errors: ErrorMap) -> Verdict:
    """The verdict on an answer by its declared meaning, else by its status.

    Only 200 with something other than HTML can be a page. A wait that the marketplace asks for is kept, also with 503.
    """
    if response.status == 200:
        return _of_success(response)
    action, code = _meaning(response, errors)
    return Verdict(action, code, f"The marketplace answered {response.status}", _wait(action, response, errors))


def _of_success(response: Response) -> Verdict:
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type in {"text/html", "application/xhtml+xml"}:
        return Verdict(Action.RETRY, "page_unreadable", "The marketplace answered 200 with an HTML page")
    return Verdict(Action.OK)


def _meaning(response: Response, errors: ErrorMap) -> tuple[Action, str]:
    declared = errors.declared(response)
    if declared is not None:
        return declared, _CODE_OF_ACTION[declared]
    if response.status >= 500:
        return Action.RETRY, "marketplace_unavailable"
    if 200 <= response.status < 300:
        return Action.RETRY, "page_unreadable"
    if 300 <= response.status < 400:
        return Action.FATAL, "foreign_origin"
    return _BY_STATUS.get(response.status, (Action.FATAL, "request_refused"))


def _wait(action: Action, response: Response, errors: ErrorMap) -> float | None:
    asked = "retry-after" in response.headers
    if action is Action.RATE_LIMITED or (action is Action.RETRY and asked):
        return retry_after_seconds(response, errors.default_wait_seconds)
    return None
