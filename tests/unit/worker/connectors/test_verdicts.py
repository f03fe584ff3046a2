"""What each answer and each failure means for the crawl."""

import pytest

from tests.unit.worker.connectors.example import connector, response
from worker.connectors import failures
from worker.connectors.rest.verdicts import DEFAULT_WAIT_SECONDS
from worker.connectors.seam import Action, Verdict

CONNECTOR = connector()


@pytest.mark.parametrize(
    ("status", "action", "code"),
    [
        (200, Action.OK, "ok"),
        (201, Action.RETRY, "page_unreadable"),
        (204, Action.RETRY, "page_unreadable"),
        (206, Action.RETRY, "page_unreadable"),
        (301, Action.FATAL, "foreign_origin"),
        (302, Action.FATAL, "foreign_origin"),
        (304, Action.FATAL, "foreign_origin"),
        (308, Action.FATAL, "foreign_origin"),
        (400, Action.FATAL, "request_refused"),
        (401, Action.REFRESH_AUTH, "bad_credentials"),
        (403, Action.FATAL, "access_denied"),
        (404, Action.FATAL, "not_found"),
        (408, Action.RETRY, "marketplace_unavailable"),
        (410, Action.FATAL, "request_refused"),
        (422, Action.FATAL, "request_refused"),
        (423, Action.RATE_LIMITED, "rate_limited"),
        (425, Action.RETRY, "marketplace_unavailable"),
        (429, Action.RATE_LIMITED, "rate_limited"),
        (500, Action.RETRY, "marketplace_unavailable"),
        (502, Action.RETRY, "marketplace_unavailable"),
        (503, Action.RETRY, "marketplace_unavailable"),
        (599, Action.RETRY, "marketplace_unavailable"),
        (100, Action.FATAL, "request_refused"),
        (999, Action.RETRY, "marketplace_unavailable"),
    ],
)
def test_statuses(status: int, action: Action, code: str) -> None:
    verdict = CONNECTOR.classify(response("{}", status))

    assert (verdict.action, verdict.code) == (action, code)


@pytest.mark.parametrize("media_type", ["text/html", "text/html; charset=utf-8", "TEXT/HTML", "application/xhtml+xml"])
def test_html_with_200_is_no_page(media_type: str) -> None:
    verdict = CONNECTOR.classify(response("<html>", 200, content_type=media_type))

    assert (verdict.action, verdict.code) == (Action.RETRY, "page_unreadable")


def test_throttling_without_a_wait_pauses_for_the_declared_window() -> None:
    assert CONNECTOR.classify(response("", 429)).wait_seconds == 10.0
    assert connector(rate_limit=None).classify(response("", 429)).wait_seconds == DEFAULT_WAIT_SECONDS


@pytest.mark.parametrize(
    ("status", "wait"), [(429, 7.0), (423, 7.0), (503, 7.0), (500, 7.0), (400, None), (401, None), (200, None)]
)
def test_a_demanded_wait_is_kept_where_asking_again_makes_sense(status: int, wait: float | None) -> None:
    assert CONNECTOR.classify(response("{}", status, retry_after="7")).wait_seconds == wait


def test_a_failure_without_a_demanded_wait_leaves_the_backoff_to_the_engine() -> None:
    assert CONNECTOR.classify(response("{}", 503)).wait_seconds is None


@pytest.mark.parametrize(
    ("status", "body", "action"),
    [
        (400, '{"error":{"code":"cursor_expired"}}', Action.RESET_PAGING),
        (423, '{"error":{"code":"cursor_expired"}}', Action.RESET_PAGING),
        (400, '{"error":{"code":"other"}}', Action.FATAL),
        (400, '{"error":"cursor_expired"}', Action.FATAL),
        (400, '{"error":{"code":["cursor_expired"]}}', Action.FATAL),
        (400, "cursor_expired", Action.FATAL),
        (400, "", Action.FATAL),
        (200, '{"error":{"code":"cursor_expired"}}', Action.OK),
    ],
)
def test_declared_error_codes_come_before_statuses(status: int, body: str, action: Action) -> None:
    assert CONNECTOR.classify(response(body, status)).action is action


@pytest.mark.parametrize(
    ("failure", "action", "code"),
    [
        (failures.Unreachable("x"), Action.RETRY, "marketplace_unavailable"),
        (failures.Overdue("x"), Action.RETRY, "marketplace_unavailable"),
        (failures.Oversize("x"), Action.FATAL, "page_too_large"),
        (failures.Misdirected("x"), Action.FATAL, "foreign_origin"),
        (failures.PageUnreadable("x"), Action.RETRY, "page_unreadable"),
        (failures.CursorUnreadable("x"), Action.RESET_PAGING, "cursor_expired"),
        (failures.CursorTooLong("x"), Action.FATAL, "cursor_too_long"),
        (failures.AccountMisconfigured(["x"], of_credentials=False), Action.FATAL, "account_misconfigured"),
        (failures.AccountMisconfigured(["x"], of_credentials=True), Action.REFRESH_AUTH, "bad_credentials"),
    ],
)
def test_failures(failure: failures.ConnectorFailure, action: Action, code: str) -> None:
    assert CONNECTOR.classify(failure) == Verdict(action, code, "x")


def test_every_failure_has_its_verdict() -> None:
    covered = {
        "Unreachable",
        "Overdue",
        "Oversize",
        "Misdirected",
        "PageUnreadable",
        "CursorUnreadable",
        "CursorTooLong",
        "AccountMisconfigured",
    }
    assert {kind.__name__ for kind in failures.ConnectorFailure.__subclasses__()} == covered
