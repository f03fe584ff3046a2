"""One log line per request: who, what, how it ended, how long it took. Nothing of bodies or headers."""

import time

import msgspec
import structlog
from flask import Flask, Response, g, request

from shared import problems

_log = structlog.get_logger(__name__)
_QUIET_PATHS = frozenset({"/healthz", "/readyz"})


def install(app: Flask) -> None:
    """Log the requests of ``app``; probes that succeed are logged at debug."""
    app.before_request(_start)
    app.after_request(_write)


def _start() -> None:
    g.started = time.monotonic()


def _write(response: Response) -> Response:
    quiet = request.path in _QUIET_PATHS and response.status_code < 400
    (_log.debug if quiet else _log.info)(
        "request",
        method=request.method,
        path=request.path[:256],
        status=response.status_code,
        milliseconds=round((time.monotonic() - g.started) * 1000, 1),
        request_bytes=request.content_length or 0,
        response_bytes=response.content_length or 0,
        **_code(response),
    )
    return response


def _code(response: Response) -> dict[str, str]:
    """Why a request was refused: the code of its problem document."""
    if response.mimetype != problems.MEDIA_TYPE:
        return {}
    return {"code": msgspec.json.decode(response.get_data())["code"]}
