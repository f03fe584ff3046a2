"""The `rest` connector: a marketplace that a description tells completely."""

import hashlib
from collections.abc import Mapping
from urllib.parse import urlencode

from shared.listing import MAX_CURSOR_BYTES, Listing, Reject
from shared.states import Enumeration
from worker.connectors.documents import MISSING, Path, decode
from worker.connectors.failures import AccountMisconfigured, ConnectorFailure, CursorTooLong, PageUnreadable
from worker.connectors.paging.strategy import Answer, Ended, Step, Target
from worker.connectors.rest.description import Description
from worker.connectors.rest.templates import gather
from worker.connectors.rest.values import to_integer
from worker.connectors.rest.verdicts import of_failure, of_response
from worker.connectors.seam import Account, Cursor, Page, PageRequest, Response, Spec, Verdict

_MAX_TOTAL = 2**31 - 1


class RestConnector:
    """A `Connector` (see `worker.connectors.seam`) made from a description."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._spec = Spec(
            marketplace_code=description.marketplace_code,
            cursor_format=description.cursor_format,
            origin=description.origin.url,
            capabilities=description.capabilities,
            rate_limit=description.rate_limit,
        )

    @property
    def spec(self) -> Spec:
        """What the engine must know beforehand."""
        return self._spec

    def check(self, account: Account) -> PageRequest:
        """The request for a page of one record. Raises `AccountMisconfigured`."""
        return self.first(account, 1)

    def first(self, account: Account, page_size: int) -> PageRequest:
        """The request for the first page, whose cursor is of no age. Raises `AccountMisconfigured`."""
        size = min(page_size, self._description.capabilities.max_page_size)
        return self.resume(account, Cursor(self._description.strategy.first(size), issued_at=0.0))

    def resume(self, account: Account, cursor: Cursor) -> PageRequest:
        """The request for the page at a cursor. Raises `AccountMisconfigured` and `CursorUnreadable`."""
        description = self._description
        target = description.strategy.target(cursor.position)
        templates = [description.path, *description.params.values(), *description.headers.values()]
        values = gather(account, templates + description.authentication.templates())
        return PageRequest(self._url(target, values), self._headers(values), cursor)

    def parse(self, request: PageRequest, response: Response) -> Page:
        """The page in an answer. Raises `PageUnreadable`, `CursorTooLong` and `Misdirected`."""
        description = self._description
        document = decode(response.body)
        records = description.records_path.find(document)
        if not isinstance(records, list):
            raise PageUnreadable(f"The answer has no list of records at {description.records_path.text or 'its top'}")
        total, size = _count(description.total_path, document), _count(description.size_path, document)
        answer = Answer(response, document, len(records), total, size)
        step = description.strategy.next(request.cursor.position, answer)
        return Page(
            records=records,
            next=_cursor(step, response.received_at) if isinstance(step, str) else None,
            total=total,
            end=self._end(step),
            server_page_size=size or len(records),
            fingerprint=_fingerprint(records),
        )

    def classify(self, outcome: Response | ConnectorFailure) -> Verdict:
        """What to do about an answer, or about the failure to get or to parse one."""
        if isinstance(outcome, Response):
            return of_response(outcome, self._description.errors)
        return of_failure(outcome)

    def normalize(self, raw: object) -> Listing | Reject:
        """One raw record as a listing, or the reason why it cannot be one."""
        return self._description.records.normalize(raw)

    def _url(self, target: Target, values: Mapping[str, str]) -> str:
        description = self._description
        if target.link is not None:
            return description.origin.url + target.link
        fixed = [(name, template.fill(values)) for name, template in description.params.items()]
        query = urlencode([*fixed, *target.params])
        return f"{description.origin.url}{description.path.fill_path(values)}?{query}"

    def _headers(self, values: Mapping[str, str]) -> dict[str, str]:
        description = self._description
        headers = {"accept": "application/json"}
        headers |= {name: template.fill(values) for name, template in description.headers.items()}
        headers |= description.authentication.headers(values)
        foreign = sorted(name for name, value in headers.items() if not value.isascii())
        if foreign:
            problem = f"the header {', '.join(foreign)} would not be ASCII: use plain letters in what fills it"
            raise AccountMisconfigured([problem], of_credentials=False)
        return headers

    def _end(self, step: Step) -> Enumeration | None:
        if isinstance(step, str):
            return None
        proven = step is Ended.BY_MARKETPLACE and self._description.capabilities.stable_sort
        return Enumeration.PROVEN if proven else Enumeration.GUESSED


def _cursor(position: str, issued_at: float) -> Cursor:
    cursor = Cursor(position, issued_at)
    if len(cursor.encode().encode()) > MAX_CURSOR_BYTES:
        raise CursorTooLong(f"The next page's cursor takes more than {MAX_CURSOR_BYTES} bytes")
    return cursor


def _count(path: Path | None, document: object) -> int | None:
    """A count that the marketplace states; one that makes no sense says nothing."""
    value = path.find(document) if path else MISSING
    try:
        count = None if value is MISSING else to_integer(value)
    except ValueError:
        return None
    return count if count is not None and 0 <= count <= _MAX_TOTAL else None


def _fingerprint(records: list[object]) -> bytes | None:
    """Over the records' Python notation, which, unlike JSON, can write down whatever was read."""
    if not records:
        return None
    try:
        return hashlib.blake2b(repr(records).encode(), digest_size=16).digest()
    except RecursionError as error:
        raise PageUnreadable("The answer's records are nested too deeply") from error
