"""A server's daemon as the protocol sees it: nothing of the worker's code, just requests over HTTP.

Each call takes ``**changes``, which replace members of the body: that is how a hostile one speaks.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.integration.seed import CURSOR_FORMAT
from tests.integration.served.client import Client
from tests.integration.served.server import Answer

Document = dict[str, Any]


@dataclass(frozen=True)
class Held:
    """A task that a daemon was given."""

    task_id: int
    fencing_token: int
    grant: Mapping[str, Any]


class Daemon:
    """One server, its current boot, and its way to the coordinators."""

    def __init__(self, client: Client, server_id: str) -> None:
        self.client = client
        self.server_id = server_id
        self.boot_id = str(uuid.uuid4())
        self._acquire_seq = 0

    def register(self, *marketplaces: str, **changes: Any) -> Answer:
        """Present the boot as one that can crawl these marketplaces."""
        offered = [{"marketplace_code": code, "cursor_format": CURSOR_FORMAT} for code in marketplaces]
        body = {
            "boot_id": self.boot_id,
            "machine_id": f"machine-of-{self.server_id}",
            "hostname": "test",
            "version": "1",
            "marketplaces": offered,
        }
        return self.client.put(f"/servers/{self.server_id}", body | changes)

    def restart(self, *marketplaces: str) -> Daemon:
        """The same server's next boot, registered."""
        next_boot = Daemon(self.client, self.server_id)
        answer = next_boot.register(*marketplaces)
        assert answer.status == 200, answer.body
        return next_boot

    def show_life(self, **changes: Any) -> Answer:
        """The server's heartbeat."""
        telemetry = {"cpu_percent": 12.5, "rss_bytes": 52_000_000, "running_tasks": 1}
        body = {"boot_id": self.boot_id, "telemetry": telemetry}
        return self.client.post(f"/servers/{self.server_id}/heartbeat", body | changes)

    def deregister(self) -> Answer:
        """Leave."""
        return self.client.post(f"/servers/{self.server_id}/deregister", {"boot_id": self.boot_id})

    # -- Chief -----------------------------------------------------------------------------------------------------

    def campaign(self, **changes: Any) -> Answer:
        """Ask to lead."""
        return self.client.post("/leadership/campaign", self._boot() | changes)

    def lead(self) -> int:
        """Be elected; returns the fencing token."""
        answer = self.campaign()
        assert answer.document["elected"], answer.document
        return int(answer.document["fencing_token"])

    def renew(self, token: int, **changes: Any) -> Answer:
        """The leader's heartbeat."""
        return self.client.post("/leadership/heartbeat", self._fenced(token) | changes)

    def resign(self, token: int) -> Answer:
        """Give the leadership up."""
        return self.client.post("/leadership/resign", self._fenced(token))

    def candidates(self) -> Document:
        """What may be planned."""
        answer = self.client.get("/plan/candidates")
        assert answer.status == 200, answer.body
        document: Document = answer.document
        return document

    def plan(self, token: int, tasks: Sequence[Document], plan_id: str | None = None) -> Answer:
        """Post a plan."""
        body = self._fenced(token) | {"plan_id": plan_id or str(uuid.uuid4()), "tasks": list(tasks)}
        return self.client.post("/plan", body)

    def keep_house(self, token: int) -> Answer:
        """One round of housekeeping."""
        return self.client.post("/housekeeping", self._fenced(token))

    # -- owner -----------------------------------------------------------------------------------------------------

    def acquire(self, acquire_seq: int | None = None, **changes: Any) -> Answer:
        """Ask for a task, by the next number unless one is given."""
        if acquire_seq is None:
            self._acquire_seq += 1
            acquire_seq = self._acquire_seq
        return self.client.post("/tasks/acquire", self._boot() | {"acquire_seq": acquire_seq} | changes)

    def take(self) -> Held:
        """Acquire a task that must be there."""
        answer = self.acquire()
        assert answer.status == 200, f"{self.server_id} was given nothing: {answer.status} {answer.body!r}"
        return Held(answer.document["task_id"], answer.document["fencing_token"], answer.document)

    def beat(self, held: Held, page: int = 0, processed: int = 0, **changes: Any) -> Answer:
        """The task's heartbeat."""
        body = self._owned(held) | _progress(page, processed, f"cursor-{page}")
        return self.client.post(f"/tasks/{held.task_id}/heartbeat", body | changes)

    def flush(self, held: Held, batch_no: int, refs: Sequence[str] = (), **changes: Any) -> Answer:
        """A batch of one page with listings by these references; ``page`` and counts follow from its number."""
        page, processed = changes.pop("page", batch_no), changes.pop("processed", batch_no * max(len(refs), 1))
        listings = [{"listing_ref": ref, "title": f"Thing {ref}", "price": "9.90"} for ref in refs]
        body = self._owned(held) | _progress(page, processed, f"cursor-{page}")
        body |= {"listings": listings, "rejects": [], "cursor_format": CURSOR_FORMAT, "guessed": False}
        return self.client.put(f"/tasks/{held.task_id}/batches/{batch_no}", body | changes)

    def complete(self, held: Held, last_batch: int, processed: int, **changes: Any) -> Answer:
        """Say that the crawl is whole."""
        body = {"last_batch": last_batch, "processed_count": processed, "enumeration": "proven"}
        return self.client.post(f"/tasks/{held.task_id}/complete", self._owned(held) | body | changes)

    def fail(self, held: Held, code: str = "marketplace_unavailable", **changes: Any) -> Answer:
        """Give up for now."""
        body = {"error": {"code": code, "message": "It did not work"}, "retryable": True}
        return self.client.post(f"/tasks/{held.task_id}/fail", self._owned(held) | body | changes)

    def release(self, held: Held, **changes: Any) -> Answer:
        """Let it go."""
        body = self._owned(held) | {"reason": "drain"}
        return self.client.post(f"/tasks/{held.task_id}/release", body | changes)

    def _boot(self) -> Document:
        return {"server_id": self.server_id, "boot_id": self.boot_id}

    def _fenced(self, token: int) -> Document:
        return self._boot() | {"fencing_token": token}

    def _owned(self, held: Held) -> Document:
        return self._fenced(held.fencing_token)


def _progress(page: int, processed: int, token: str | None) -> Document:
    return {
        "current_page": page,
        "last_cursor_token": token,
        "processed_count": processed,
        "total_discovered_count": None,
    }
