"""Reading a crawl's pages from a marketplace: retries, demanded waits, the loop guard and the progress timeout.

The connector says what an answer means; what follows from it is decided here, alike for all marketplaces.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence

import msgspec
import structlog

from shared.listing import Listing, Reject
from shared.policy import Policy
from shared.states import Enumeration
from worker.batching import PageRead
from worker.connectors.failures import AccountMisconfigured, ConnectorFailure
from worker.connectors.seam import Action, Connector, Cursor, Page, PageRequest, Response, Verdict
from worker.loop_guard import LoopGuard, PagingLoopError
from worker.running_task import Checkpoint, RunningTask
from worker.transport import Transport

MAX_TRIES = 5
MAX_DEMANDED_WAITS = 20
RETRY_BASE_SECONDS = 1.0
RETRY_CAP_SECONDS = 30.0
MAX_REJECTS = 50
MAX_REJECTS_SHARE = 0.2
_log = structlog.get_logger(__name__)


class CrawlFailedError(Exception):
    """The crawl cannot go on here; ``code`` and message go into the task's failure."""

    def __init__(self, code: str, message: str, *, retryable: bool, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.retryable = retryable
        self.retry_after_seconds = retry_after_seconds


class End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What stands in place of a cursor once the last page was read: a resumed task has only to be completed."""

    end: Enumeration


def read_end(token: str | None) -> Enumeration | None:
    """How surely the crawl ended, if the checkpoint's token says that it did."""
    if token is None:
        return None
    try:
        return msgspec.json.decode(token, type=End).end
    except msgspec.DecodeError:
        return None


class PageReader:
    """Reads one running task's pages, from its checkpoint on. One thread uses it."""

    def __init__(
        self,
        connector: Connector,
        transport: Transport,
        task: RunningTask,
        policy: Policy,
        *,
        wall: Callable[[], float] = time.time,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self._connector = connector
        self._transport = transport
        self._task = task
        self._policy = policy
        self._wall = wall
        self._draw = draw
        self._guard = LoopGuard(task.grant.checkpoint.processed_count, task.grant.account_size)
        self._reached = task.grant.checkpoint
        self._guessed = task.grant.guessed
        self._rejected = 0
        self._records = 0

    def pages(self) -> Iterator[PageRead]:
        """The pages that are left, until the last one or until the task is told to stop.

        Raises ``CrawlFailedError``.
        """
        if read_end(self._reached.last_cursor_token) is not None:
            return
        try:
            request: PageRequest | None = self._start()
            while request is not None and not self._task.stop.is_set():
                self._guard.asked(request.cursor)
                page = self._fetch(request)
                if page is None:
                    return
                yield self._take(page)
                request = self._connector.resume(self._task.grant.account, page.next) if page.next else None
        except PagingLoopError as error:
            # Tried again from its checkpoint the crawl would go round once more, make that durable, and so for ever.
            raise CrawlFailedError("paging_loop", str(error), retryable=False) from error
        except ConnectorFailure as failure:
            raise self._failed(self._connector.classify(failure), failure) from failure

    def _start(self) -> PageRequest:
        grant = self._task.grant
        capabilities = self._connector.spec.capabilities
        if grant.checkpoint.last_cursor_token is None:
            return self._connector.first(grant.account, min(self._policy.flush_records, capabilities.max_page_size))
        cursor = Cursor.decode(grant.checkpoint.last_cursor_token)
        lifetime = capabilities.cursor_ttl_seconds
        if not capabilities.cursor_survives or (lifetime is not None and self._wall() - cursor.issued_at > lifetime):
            raise CrawlFailedError("cursor_expired", "the cursor did not outlive its owner", retryable=True)
        return self._connector.resume(grant.account, cursor)

    def _fetch(self, request: PageRequest) -> Page | None:
        """The page, or None when told to stop before it could be had."""
        tries = waits = 0
        while not self._task.stop.is_set():
            self._watch_progress()
            outcome, page = self._ask(request)
            if page is not None:
                return page
            verdict = self._connector.classify(outcome)
            if verdict.action is Action.RATE_LIMITED and waits < MAX_DEMANDED_WAITS:
                waits += 1
                self._wait_as_demanded(verdict)
            elif verdict.action is Action.RETRY and tries + 1 < MAX_TRIES:
                tries += 1
                self._wait_before_retry(verdict, tries)
            else:
                raise self._failed(verdict, outcome)
        return None

    def _ask(self, request: PageRequest) -> tuple[Response | ConnectorFailure, Page | None]:
        try:
            response = self._transport.send("GET", request.url, request.headers)
            if self._connector.classify(response).action is not Action.OK:
                return response, None
            return response, self._connector.parse(request, response)
        except ConnectorFailure as failure:
            return failure, None

    def _wait_as_demanded(self, verdict: Verdict) -> None:
        seconds = verdict.wait_seconds or 0.0
        if seconds > self._policy.task_lease_seconds:
            raise CrawlFailedError(verdict.code, verdict.message, retryable=True, retry_after_seconds=seconds)
        _log.info("wait_demanded", task_id=self._task.grant.task_id, seconds=seconds)
        # Declared before it is waited for: a heartbeat in the middle of it must not look like a stall.
        self._task.waited(seconds)
        self._task.stop.wait(seconds)

    def _wait_before_retry(self, verdict: Verdict, tries: int) -> None:
        """As long as the marketplace demanded, else full jitter under an exponential ceiling."""
        if verdict.wait_seconds is not None:
            self._wait_as_demanded(verdict)
        else:
            ceiling = min(RETRY_CAP_SECONDS, RETRY_BASE_SECONDS * 2.0**tries)
            self._task.stop.wait(self._draw() * ceiling)

    def _watch_progress(self) -> None:
        if self._task.seconds_without_page >= self._policy.progress_timeout_seconds:
            raise CrawlFailedError("no_progress", "no page could be read for too long", retryable=True)

    def _failed(self, verdict: Verdict, outcome: object) -> CrawlFailedError:
        if isinstance(outcome, AccountMisconfigured):
            code = "bad_credentials" if outcome.of_credentials else "account_misconfigured"
            return CrawlFailedError(code, str(outcome), retryable=False)
        if verdict.action is Action.REFRESH_AUTH:
            if self._task.credentials_version != self._task.grant.credentials_version:
                return CrawlFailedError("credentials_changed", "newer credentials are to be tried", retryable=True)
            return CrawlFailedError("bad_credentials", verdict.message, retryable=False)
        if verdict.action is Action.RESET_PAGING:
            return CrawlFailedError("cursor_expired", verdict.message, retryable=True)
        retryable = verdict.action in (Action.RETRY, Action.RATE_LIMITED)
        return CrawlFailedError(
            verdict.code, verdict.message, retryable=retryable, retry_after_seconds=verdict.wait_seconds
        )

    def _take(self, page: Page) -> PageRead:
        self._guard.read(page)
        listings, rejects = self._normalize(page.records)
        guessed = _is_guess(page) or any(reject.record_ref is None for reject in rejects)
        self._guessed |= guessed
        end = Enumeration.GUESSED if self._guessed else Enumeration.PROVEN
        token = page.next.encode() if page.next else msgspec.json.encode(End(end)).decode()
        totals = [total for total in (page.total, self._reached.total_discovered_count) if total is not None]
        self._reached = Checkpoint(
            current_page=self._reached.current_page + 1,
            last_cursor_token=token,
            processed_count=self._reached.processed_count + len(page.records),
            total_discovered_count=max(totals) if totals else None,
        )
        self._task.page_read(self._reached)
        return PageRead(listings, rejects, self._reached, guessed)

    def _normalize(self, records: Sequence[object]) -> tuple[list[Listing], list[Reject]]:
        listings: list[Listing] = []
        rejects: list[Reject] = []
        for raw in records:
            record = self._connector.normalize(raw)
            if isinstance(record, Listing):
                listings.append(record)
            else:
                rejects.append(record)
        self._records += len(records)
        self._rejected += len(rejects)
        if self._rejected > MAX_REJECTS and self._rejected > MAX_REJECTS_SHARE * self._records:
            raise CrawlFailedError(
                "too_many_rejects", f"{self._rejected} of {self._records} records were unusable", retryable=False
            )
        return listings, rejects


def _is_guess(page: Page) -> bool:
    """Whether a page leaves doubt that all was seen: its end was concluded, or it was empty or short in mid-crawl."""
    if page.next is None:
        return page.end is Enumeration.GUESSED
    return len(page.records) < max(1, page.server_page_size)
