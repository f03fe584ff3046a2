"""A task while this worker runs it: what was granted, what is asked of it meanwhile, and how far it has come.

Three threads share it: one fetches, one flushes, one sends heartbeats.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from worker.connectors.seam import Account
from worker.lease import Lease


@dataclass(frozen=True)
class Checkpoint:
    """Counters of the current epoch, as the protocol names them."""

    current_page: int
    last_cursor_token: str | None
    processed_count: int
    total_discovered_count: int | None


@dataclass(frozen=True)
class Grant:
    """An acquired task, as the coordinator described it."""

    task_id: int
    fencing_token: int
    marketplace_code: str
    account: Account
    account_size: int | None
    credentials_version: int | None
    checkpoint: Checkpoint
    last_batch_no: int
    guessed: bool

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> "Grant":
        """The answer to an acquire."""
        account, credentials = document["account"], document["credentials"]
        stored = document["checkpoint"]
        return cls(
            task_id=document["task_id"],
            fencing_token=document["fencing_token"],
            marketplace_code=account["marketplace_code"],
            account=Account(account["account_ref"], account["settings"], credentials["values"] if credentials else {}),
            account_size=account["size"],
            credentials_version=credentials["version"] if credentials else None,
            checkpoint=Checkpoint(
                stored["current_page"],
                stored["last_cursor_token"],
                stored["processed_count"],
                stored["total_discovered_count"],
            ),
            last_batch_no=document["last_batch_no"],
            guessed=document["enumeration"] == "guessed",
        )


class RunningTask:
    """Shared state of one acquisition; every member is safe to use from every thread."""

    def __init__(self, grant: Grant, monotonic: Callable[[], float] = time.monotonic) -> None:
        self.grant = grant
        self.lease = Lease(monotonic)
        self.stop = threading.Event()
        self.dropped = threading.Event()
        self.speaking = threading.Lock()
        """Held by whoever tells the task's end, or sends a heartbeat: one that came after the end would look stale."""
        self.cancelled = False
        self.let_go: str | None = None
        self.credentials_version = grant.credentials_version
        self._monotonic = monotonic
        self._guard = threading.Lock()
        self._read = grant.checkpoint
        self._waited_seconds = 0.0
        self._page_at = monotonic()

    def obey(self, answer: Mapping[str, Any], sent_at: float) -> None:
        """Take lease and orders from an answer to the owner; letting go happens at a page's end."""
        self.lease.renew(sent_at, answer["lease_remaining_seconds"])
        self.credentials_version = answer["credentials_version"]
        if answer["cancel"]:
            self.cancelled = True
            self.stop.set()
        elif answer["yield"] or answer["drain"]:
            self.ask_to_let_go("yield" if answer["yield"] else "drain")

    def ask_to_let_go(self, reason: str) -> None:
        """Stop fetching after the page in hand; what was fetched is flushed first, then the task is released."""
        self.let_go = self.let_go or reason
        self.stop.set()

    def drop(self) -> None:
        """Stop at once: somebody else owns the task, or may."""
        self.lease.lose()
        self.stop.set()
        self.dropped.set()

    def page_read(self, reached: Checkpoint) -> None:
        """Note what has been read (not necessarily flushed): heartbeats report it."""
        with self._guard:
            self._read = reached
            self._waited_seconds = 0.0
            self._page_at = self._monotonic()

    def waited(self, seconds: float) -> None:
        """Note a wait that the marketplace demanded: the progress timeout does not count it."""
        with self._guard:
            self._waited_seconds += seconds

    @property
    def seconds_without_page(self) -> float:
        """Seconds since the last page, demanded waits apart."""
        with self._guard:
            return self._monotonic() - self._page_at - self._waited_seconds

    def report(self) -> dict[str, Any]:
        """The counters that a heartbeat carries."""
        with self._guard:
            read, waited = replace(self._read), self._waited_seconds
        return {
            "current_page": read.current_page,
            "last_cursor_token": read.last_cursor_token,
            "processed_count": read.processed_count,
            "total_discovered_count": read.total_discovered_count,
            "rate_limit_wait_seconds": min(waited, 86_400.0),
        }
