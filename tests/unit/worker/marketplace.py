"""A marketplace whose pages, and what stands in their way, are scripted; its answers need no network."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from shared.listing import Listing, Reject
from shared.states import Enumeration
from tests.unit.worker.granting import Clock
from worker.connectors.failures import ConnectorFailure
from worker.connectors.origin import Origin
from worker.connectors.rest.verdicts import of_failure
from worker.connectors.seam import (
    Account,
    Action,
    Capabilities,
    Cursor,
    Page,
    PageRequest,
    Response,
    Spec,
    Verdict,
)
from worker.transport import Transport

NOW = 1_800_000_000.0
ORIGIN = "https://api.example.test"


class ScriptedConnector:
    """Pages by number: ``sizes[n]`` records each, then the end.

    A record is its own reference; ``unusable`` ones are rejected, with a reference or without one. ``told_size`` is
    the page size that the marketplace says it used.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        *,
        end: Enumeration = Enumeration.PROVEN,
        unusable: Mapping[str, str | None] | None = None,
        capabilities: Capabilities | None = None,
        repeat: bool = False,
        total: int | None = None,
        told_size: int | None = None,
    ) -> None:
        usual = Capabilities(max_page_size=100, stable_sort=True, cursor_survives=True, cursor_ttl_seconds=300)
        self.spec = Spec("example", "example/1", ORIGIN, capabilities or usual, None)
        self.asked_sizes: list[int] = []
        self._sizes = sizes
        self._end = end
        self._unusable = unusable or {}
        self._repeat = repeat
        self._total = total
        self._told_size = told_size

    def check(self, account: Account) -> PageRequest:
        return self._request(0)

    def first(self, account: Account, page_size: int) -> PageRequest:
        self.asked_sizes.append(page_size)
        return self._request(0)

    def resume(self, account: Account, cursor: Cursor) -> PageRequest:
        return PageRequest(f"{ORIGIN}/{cursor.position}", {}, cursor)

    def parse(self, request: PageRequest, response: Response) -> Page:
        number = int(request.cursor.position)
        records = [f"{number}-{place}" for place in range(self._sizes[number])]
        last = number + 1 == len(self._sizes)
        following = 0 if self._repeat else number + 1
        return Page(
            records=records,
            next=None if last and not self._repeat else Cursor(str(following), NOW),
            total=self._total,
            end=self._end if last else None,
            server_page_size=self._told_size or len(records),
            fingerprint=request.cursor.position.encode() if records else None,
        )

    def classify(self, outcome: Response | ConnectorFailure) -> Verdict:
        if isinstance(outcome, ConnectorFailure):
            return of_failure(outcome)
        return VERDICTS[outcome.status]

    def normalize(self, raw: object) -> Listing | Reject:
        ref = str(raw)
        if ref in self._unusable:
            return Reject(reason="unusable", record_ref=self._unusable[ref])
        return Listing(listing_ref=ref, title=ref)

    def _request(self, number: int) -> PageRequest:
        return PageRequest(f"{ORIGIN}/{number}", {}, Cursor(str(number), NOW))


VERDICTS: dict[int, Verdict] = {
    200: Verdict(Action.OK),
    401: Verdict(Action.REFRESH_AUTH, "bad_credentials", "The marketplace answered 401"),
    404: Verdict(Action.FATAL, "not_found", "The marketplace answered 404"),
    410: Verdict(Action.RESET_PAGING, "cursor_expired", "The marketplace answered 410"),
    429: Verdict(Action.RATE_LIMITED, "rate_limited", "The marketplace answered 429", wait_seconds=7.0),
    430: Verdict(Action.RATE_LIMITED, "rate_limited", "The marketplace answered 430", wait_seconds=61.0),
    500: Verdict(Action.RETRY, "marketplace_unavailable", "The marketplace answered 500"),
    503: Verdict(Action.RETRY, "marketplace_unavailable", "The marketplace answered 503", wait_seconds=20.0),
}


class ScriptedTransport(Transport):
    """Answers by the script, then with 200 for ever; ``urls`` is what was asked for."""

    def __init__(self, *script: int | ConnectorFailure) -> None:
        super().__init__(Origin.parse(ORIGIN))
        self.urls: list[str] = []
        self._script = list(script)

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b"", deadline_seconds: float = 60.0
    ) -> Response:
        self.urls.append(url)
        step = self._script.pop(0) if self._script else 200
        if isinstance(step, ConnectorFailure):
            raise step
        return Response(step, {}, b"", url, NOW)


class ScriptedStop(threading.Event):
    """Notes the waits; each passes at once, on the clock too."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.waits: list[float] = []
        self._clock = clock

    def wait(self, timeout: float | None = None) -> bool:
        assert timeout is not None
        self.waits.append(timeout)
        self._clock.now += timeout
        return self.is_set()
