"""The seam between a marketplace and the crawl engine.

A connector says *what* to ask a marketplace and *what its answers mean*. It performs no input or output, holds no
state of a crawl and may be used by many threads at once. The engine performs the requests behind its fence, and owns
retries, waits, the loop guard, checkpoints and bounds. One crawl runs like this::

    request = connector.first(account, page_size)   # or connector.resume(account, Cursor.decode(token))
    loop:
        response = ...the engine's transport, fenced to connector.spec.origin...
        verdict = connector.classify(response)      # or of the ConnectorFailure that the transport raised
        page = connector.parse(request, response)   # after an `ok`; may raise a ConnectorFailure: classify that too
        listings = [connector.normalize(raw) for raw in page.records]
        if page.next is None: the crawl ended, page.end says how surely
        request = connector.resume(account, page.next)

The engine's loop guard is fed by `Cursor.position` (the same position at any distance is a loop), `Page.fingerprint`
(the same page again is a loop) and `Page.total` (three times the largest of it, the last size and 1,000 is insane; a
page without records counts as one record, so that empty pages cannot go on for ever).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

import msgspec

from shared.listing import Listing, Reject
from shared.states import Enumeration
from worker.connectors.failures import ConnectorFailure, CursorUnreadable


class _CursorDocument(msgspec.Struct, forbid_unknown_fields=True):
    position: str
    issued_at: float


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of one page in a crawl: the page to be asked for, not one that was read.

    `position` belongs to the connector that made it and is opaque to everybody else; two cursors of equal position ask
    for the same page. `issued_at` is the Unix time, in seconds, at which the marketplace handed it out; the engine
    compares it with the connector's `cursor_ttl_seconds`.
    """

    position: str
    issued_at: float

    def encode(self) -> str:
        """The cursor as the JSON text that checkpoints carry (`last_cursor_token`)."""
        return msgspec.json.encode({"position": self.position, "issued_at": self.issued_at}).decode()

    @classmethod
    def decode(cls, token: str) -> "Cursor":
        """The cursor that `encode` wrote.

        Raises `CursorUnreadable`, which is classified as `reset_paging`.
        """
        try:
            document = msgspec.json.decode(token, type=_CursorDocument)
        except msgspec.DecodeError as error:
            raise CursorUnreadable(f"The checkpoint's cursor is not one of ours: {error}") from error
        return cls(document.position, document.issued_at)


@dataclass(frozen=True, slots=True)
class Account:
    """What a connector needs to know of the account it crawls.

    `account_ref` is the seller's identity at the marketplace; `settings` and `credentials` are the JSON objects that
    the coordinator keeps for the account.
    """

    account_ref: str
    settings: Mapping[str, object]
    credentials: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageRequest:
    """One GET for one page: the whole URL, the headers with the account's authentication, and the page's cursor."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Response:
    """What the transport received, whatever its status.

    `headers` have lower-case names (repeated ones joined by a comma), `body` is decoded as far as Content-Encoding
    said, `url` is the one that answered, `received_at` is the Unix time in seconds.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)
    url: str
    received_at: float


@dataclass(frozen=True, slots=True)
class Page:
    """One page of raw records.

    `next` is None on the last page, and only then `end` is set: `proven` when the marketplace itself said that nothing
    follows and its order is stable, `guessed` when that was concluded from an empty page or a total. `total` is what
    the marketplace says it holds, if it says so. `server_page_size` is the page size it says it used, or else the
    number of records. `fingerprint` is equal for pages of equal content; a page without records has none.
    """

    records: Sequence[object]
    next: Cursor | None
    total: int | None
    end: Enumeration | None
    server_page_size: int
    fingerprint: bytes | None


MAX_WAIT_SECONDS = 3600.0
"""No marketplace is obeyed for longer than this, whatever it asks for."""


class Action(StrEnum):
    """What the engine is to do about an answer.

    `ok`: parse it. `retry`: ask again, boundedly often. `rate_limited`: wait, then ask again; no attempt is lost.
    `refresh_auth`: take newer credentials once and ask again; without any, the account's credentials are bad.
    `reset_paging`: the cursor is dead, the crawl starts again in a new epoch. `split`: the slice is too deep, ask for
    smaller ones. `skip`: leave this page out; the enumeration is guessed from then on. `fatal`: asking again is of no
    use.
    """

    OK = "ok"
    RETRY = "retry"
    RATE_LIMITED = "rate_limited"
    REFRESH_AUTH = "refresh_auth"
    RESET_PAGING = "reset_paging"
    SPLIT = "split"
    SKIP = "skip"
    FATAL = "fatal"


@dataclass(frozen=True, slots=True)
class Verdict:
    """An action, and the stable code and sentence under which it is reported if the crawl ends by it.

    `wait_seconds` is always set for `rate_limited` and bounded by `MAX_WAIT_SECONDS`; for `retry` it is set when the
    marketplace asked for a pause, and the engine's own back-off applies when it is None.
    """

    action: Action
    code: str = "ok"
    message: str = ""
    wait_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The pace a marketplace is known to bear: `requests` in `seconds`, counted per `scope`."""

    scope: str
    requests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a marketplace can do.

    `max_page_size` in records. `stable_sort`: its order does not change while it is read; without it no end is proven.
    `cursor_survives`: a cursor may be resumed later and from another machine. `cursor_ttl_seconds`: for how long; None
    is unlimited.
    """

    max_page_size: int
    stable_sort: bool
    cursor_survives: bool
    cursor_ttl_seconds: float | None


@dataclass(frozen=True, slots=True)
class Spec:
    """What the engine must know of a connector before it asks anything.

    `origin` is scheme, host and port, with a path prefix where the marketplace has one (`https://api.example/v3`): the
    fence around every request. `cursor_format` names connector and version; a checkpoint of another format cannot be
    resumed.
    """

    marketplace_code: str
    cursor_format: str
    origin: str
    capabilities: Capabilities
    rate_limit: RateLimit | None


class Connector(Protocol):
    """One marketplace. Immutable, and safe to use from several threads."""

    @property
    def spec(self) -> Spec:
        """What the engine must know beforehand."""

    def check(self, account: Account) -> PageRequest:
        """The smallest request that proves the account's credentials: they are good when its answer is `ok`.

        Raises `AccountMisconfigured`.
        """

    def first(self, account: Account, page_size: int) -> PageRequest:
        """The request for the crawl's first page, of at most `page_size` records (and at most `max_page_size`).

        Raises `AccountMisconfigured`.
        """

    def resume(self, account: Account, cursor: Cursor) -> PageRequest:
        """The request for the page at a cursor, in the same process or in another one.

        Raises `AccountMisconfigured` and `CursorUnreadable`.
        """

    def parse(self, request: PageRequest, response: Response) -> Page:
        """The page in an answer that was classified as `ok`.

        Raises a `ConnectorFailure` (`PageUnreadable` above all) for whatever is not such a page: it never makes an
        empty page of something it does not understand.
        """

    def classify(self, outcome: Response | ConnectorFailure) -> Verdict:
        """What to do about an answer, or about the failure to get or to parse one."""

    def normalize(self, raw: object) -> Listing | Reject:
        """One raw record as a listing, or the reason why it cannot be one. Never raises for any input."""
