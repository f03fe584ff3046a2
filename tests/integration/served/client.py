"""Keys of servers and people, and a client that signs with one and speaks to a served coordinator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from shared.signing import Signer
from tests.integration.served.server import Answer, Served

PREFIX = "/api/v1"
Signers = Callable[..., Signer]


class Client:
    """Calls running coordinators as the holder of one key; without another choice the first of them."""

    def __init__(self, coordinators: list[Served], authority: str, signer: Signer) -> None:
        self._coordinators = coordinators
        self._authority = authority
        self._signer = signer

    def sign(self, method: str, path: str, body: bytes = b"") -> dict[str, str]:
        """The headers of a signed request to ``path`` below the prefix."""
        headers = self._signer.headers(method, self._authority, PREFIX + path, body)
        return {"Content-Type": "application/json", **headers}

    def send(self, method: str, path: str, body: bytes, headers: dict[str, str], coordinator: int = 0) -> Answer:
        """Send exactly this."""
        return self._coordinators[coordinator].send(method, PREFIX + path, headers, body)

    def call(self, method: str, path: str, document: Any = None, coordinator: int = 0) -> Answer:
        """A signed request, its body JSON unless it is bytes."""
        body = document if isinstance(document, bytes) else b"" if document is None else msgspec.json.encode(document)
        return self.send(method, path, body, self.sign(method, path, body), coordinator)

    def get(self, path: str, coordinator: int = 0) -> Answer:
        """A signed GET."""
        return self.call("GET", path, coordinator=coordinator)

    def post(self, path: str, document: Any, coordinator: int = 0) -> Answer:
        """A signed POST."""
        return self.call("POST", path, document, coordinator)

    def put(self, path: str, document: Any, coordinator: int = 0) -> Answer:
        """A signed PUT."""
        return self.call("PUT", path, document, coordinator)
