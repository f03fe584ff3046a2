"""A client of the application in this process: signs each request, hands back the answer as it came."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from flask import Flask
from werkzeug.test import TestResponse

from shared.signing import Signer
from tests.integration.clock import Clock

PREFIX = "/api/v1"


def seconds_of(clock: Clock) -> int:
    """The moved clock in whole seconds since 1970, or the real one while it runs by itself."""
    try:
        instant = clock.now
    except RuntimeError:
        return int(time.time())
    return int((instant - datetime(1970, 1, 1)).total_seconds())


class SignedClient:
    """Calls the API as the holder of one key."""

    def __init__(self, app: Flask, authority: str, signer: Signer) -> None:
        self._client = app.test_client()
        self._authority = authority
        self._signer = signer

    def sign(self, method: str, path: str, body: bytes = b"") -> dict[str, str]:
        """The headers of a signed request to ``path`` under the prefix."""
        return self._signer.headers(method, self._authority, PREFIX + path, body)

    def send(self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None) -> TestResponse:
        """Send raw bytes; ``headers`` replace those of a fresh signature and of JSON."""
        made = {"Content-Type": "application/json", **self.sign(method, path, body)}
        return self.send_unsigned(method, path, body, {**made, **(headers or {})})

    def send_unsigned(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> TestResponse:
        """Send exactly these headers."""
        return self._client.open(PREFIX + path, method=method, data=body, headers=dict(headers))

    def get(self, path: str) -> TestResponse:
        """A signed GET."""
        return self.send("GET", path)

    def post(self, path: str, document: Any) -> TestResponse:
        """A signed POST of a JSON document."""
        return self.send("POST", path, msgspec.json.encode(document))

    def put(self, path: str, document: Any) -> TestResponse:
        """A signed PUT of a JSON document."""
        return self.send("PUT", path, msgspec.json.encode(document))
