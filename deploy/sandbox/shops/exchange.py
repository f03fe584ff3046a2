"""What all simulated marketplaces do alike with a request and its answer."""

from collections.abc import Mapping

import msgspec
from flask import Response, request

from deploy.sandbox.conduct import Trouble

_ENCODER = msgspec.json.Encoder(decimal_format="number")
_MAX_PARAMETER = 10**9


def json_response(document: object, headers: Mapping[str, str] | None = None) -> Response:
    """A 200 with a JSON body; decimals are written as exact numbers."""
    return Response(_ENCODER.encode(document), mimetype="application/json", headers=dict(headers or {}))


def number(name: str, default: int | None = None, least: int = 0) -> int:
    """A query parameter as a whole number; one without default is mandatory. Raises `Trouble` (400)."""
    text = request.args.get(name)
    if text is None and default is not None:
        return default
    if text is None or not (text.isascii() and text.isdecimal()) or not least <= int(text[:12]) <= _MAX_PARAMETER:
        raise Trouble(400, f"bad_parameter_{name}")
    return int(text)


def basic_credentials() -> tuple[str, str]:
    """User name and password of the request. Raises `Trouble` (401)."""
    authorization = request.authorization
    if authorization is None or authorization.type != "basic":
        raise Trouble(401, "credentials_missing", {"WWW-Authenticate": "Basic"})
    return str(authorization.username), str(authorization.password)
