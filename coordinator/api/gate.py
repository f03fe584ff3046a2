"""The way in: request id, size cap, then the caller's signature over the raw bytes; nothing is parsed before."""

import re
import uuid

import structlog
from flask import Flask, Response, g, request
from gunicorn.http.errors import ParseException

from coordinator.api.errors import invalid
from coordinator.api.services import services
from shared.listing import MAX_BATCH_BYTES, MAX_BODY_BYTES
from shared.problems import BodyTooLarge

PREFIX = "/api/v1"
BATCH_ENDPOINT = "tasks.flush"
PUBLIC_ENDPOINTS = frozenset({"api-docs.openapi_json"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{8,64}")


def install(app: Flask) -> None:
    """Stand before every request of ``app``."""
    app.before_request(_identify)
    app.before_request(_admit)
    app.after_request(_complete)


def _identify() -> None:
    """Take the client's request id where it is sane, else make one; every log line of the request carries it."""
    offered = request.headers.get("X-Request-ID", "")
    g.request_id = offered if _REQUEST_ID.fullmatch(offered) else str(uuid.uuid4())
    g.settled = False
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=g.request_id)


def _admit() -> None:
    body = _capped_body()
    if not request.path.startswith(f"{PREFIX}/") or request.endpoint in PUBLIC_ENDPOINTS:
        return
    target: str = request.environ["RAW_URI"]
    g.admission = services().authenticator.authenticate(request.method, target, dict(request.headers), body)
    structlog.contextvars.bind_contextvars(key_id=g.admission.caller.key_id)


def _capped_body() -> bytes:
    """The raw body, also where no length was announced. Raises ``BodyTooLarge`` and ``InvalidInput``."""
    cap = MAX_BATCH_BYTES if request.endpoint == BATCH_ENDPOINT else MAX_BODY_BYTES
    # One byte more, since a body of exactly the cap is taken and the server refuses what reaches its limit.
    request.max_content_length = cap + 1
    try:
        body = request.get_data()
    except (ParseException, OSError) as error:
        raise invalid({"body": "its chunks cannot be read"}) from error
    if len(body) > cap:
        raise BodyTooLarge(f"The body may take at most {cap} bytes")
    return body


def _complete(response: Response) -> Response:
    response.headers["X-Request-ID"] = g.request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers.setdefault("Cache-Control", "no-store")
    if "admission" in g and g.admission.policy is not None:
        response.headers["Policy-Digest"] = g.admission.policy.digest
    return response
