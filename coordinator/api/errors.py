"""Errors as RFC 9457 problem documents: every status, from every source, without a stack trace or a secret."""

import math
from typing import Any

import msgspec
import structlog
from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from coordinator.api.transactions import settle
from shared import problems
from shared.problems import DatabaseUnavailable, InvalidInput, Problem

_log = structlog.get_logger(__name__)
_BY_STATUS: dict[int, type[Problem]] = {
    404: problems.NotFound,
    405: problems.MethodNotAllowed,
    413: problems.BodyTooLarge,
    415: problems.UnsupportedMediaType,
    422: InvalidInput,
    429: problems.TooManyRequests,
}
_CARRIED_HEADERS = ("Allow", "Retry-After")
_MAX_NAMED_FIELDS = 50
_MAX_CHARACTERS = 150


def install(app: Flask) -> None:
    """Answer every error of ``app`` with a problem document."""
    app.register_error_handler(Problem, answer)
    app.register_error_handler(HTTPException, answer_http)
    app.register_error_handler(Exception, answer_unexpected)


def answer(problem: Problem) -> Response:
    """The answer to a problem; a refused request's nonce is stored first, and may turn out to be the real problem."""
    if not isinstance(problem, DatabaseUnavailable):
        try:
            settle()
        except Problem as found:
            problem = found
    response = Response(_encoded(problem.to_document()), status=problem.status, content_type=problems.MEDIA_TYPE)
    if problem.retry_after_seconds is not None:
        response.headers["Retry-After"] = retry_after(problem.retry_after_seconds)
    if problem.status == 401:
        # RFC 9110 section 11.6.1 wants a 401 to name its scheme.
        response.headers["WWW-Authenticate"] = 'Signature realm="marketplace-v1"'
    return response


def answer_http(error: HTTPException) -> Response:
    """The answer to what Flask and its extensions raise, with their ``Allow`` and ``Retry-After``."""
    status = error.code or 500
    if status >= 500:
        return answer_unexpected(error)
    response = answer(_BY_STATUS.get(status, InvalidInput)())
    for name, value in error.get_headers():
        if name in _CARRIED_HEADERS:
            response.headers[name] = value
    return response


def answer_unexpected(error: Exception) -> Response:
    """The answer to a fault of ours: the log has the traceback, the caller the request id."""
    _log.error("unexpected_error", exc_info=error)
    document = Problem("The coordinator failed; its log tells more under this answer's X-Request-ID").to_document()
    return Response(_encoded(document), status=500, content_type=problems.MEDIA_TYPE)


def retry_after(seconds: float) -> str:
    """The header's value: whole seconds (RFC 9110 section 10.2.3), rounded up."""
    return str(math.ceil(seconds))


def invalid(errors: dict[str, str]) -> InvalidInput:
    """The problem of input whose fields cannot be taken; ``errors`` maps each field to what is wrong with it."""
    first = list(errors.items())[:_MAX_NAMED_FIELDS]
    named = {_cut(field): _cut(wrong) for field, wrong in first}
    return InvalidInput("; ".join(f"{field}: {wrong}" for field, wrong in named.items()), errors=named)


def _cut(text: str) -> str:
    """``text``, which may echo input, at a length that fits an answer."""
    return text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"


def _encoded(document: dict[str, Any]) -> bytes:
    return msgspec.json.encode(document)
