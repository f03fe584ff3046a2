"""A server that would lead, as the protocol sees it: the leader's calls over HTTP, signed before they race."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from tests.integration.served.client import Client
from tests.integration.served.server import Answer

Call: TypeAlias = Callable[[], Answer]

PATHS = {
    "campaign": "/leadership/campaign",
    "renew": "/leadership/heartbeat",
    "resign": "/leadership/resign",
    "plan": "/plan",
    "keep_house": "/housekeeping",
}


@dataclass(frozen=True)
class Candidate:
    """One boot of a server, and the coordinator that it speaks to."""

    client: Client
    server_id: str
    boot_id: str
    coordinator: int = 0

    def ready(self, verb: str, token: int | None = None, **members: Any) -> Call:
        """A request that is signed now and leaves when it is called; ``members`` replace those of the body."""
        document: dict[str, Any] = {"server_id": self.server_id, "boot_id": self.boot_id}
        if token is not None:
            document["fencing_token"] = token
        path, body = PATHS[verb], msgspec.json.encode(document | members)
        headers = self.client.sign("POST", path, body)
        return lambda: self.client.send("POST", path, body, headers, self.coordinator)

    def campaign(self) -> Answer:
        """Ask to lead."""
        return self.ready("campaign")()

    def lead(self) -> int:
        """Be elected, or fail; returns the token."""
        answer = self.campaign().document
        assert answer["elected"], f"{self.server_id} should have been elected: {answer}"
        return int(answer["fencing_token"])

    def with_boot(self, boot_id: str) -> Candidate:
        """Another boot of the same server."""
        return replace(self, boot_id=boot_id)

    def register(self) -> Answer:
        """Present the boot."""
        body = {
            "boot_id": self.boot_id,
            "machine_id": f"machine-of-{self.server_id}",
            "hostname": "test",
            "version": "1",
            "marketplaces": [],
        }
        return self.client.put(f"/servers/{self.server_id}", body, self.coordinator)

    def deregister(self) -> Answer:
        """Leave the cluster."""
        path = f"/servers/{self.server_id}/deregister"
        return self.client.post(path, {"boot_id": self.boot_id}, self.coordinator)
