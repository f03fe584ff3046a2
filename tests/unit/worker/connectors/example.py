"""A description that uses everything, for tests to bend, and the connector and account made from it."""

import copy
from typing import Any

from worker.connectors.rest.connector import RestConnector
from worker.connectors.rest.reading import read
from worker.connectors.seam import Account, Response

NOW = 1_800_000_000.0

DOCUMENT: dict[str, Any] = {
    "code": "example",
    "version": 3,
    "origin": "https://api.example.test/v1",
    "path": "/sellers/{settings.seller_id}/items",
    "params": {"order": "id", "site": "{settings.site}"},
    "headers": {"User-Agent": "{account_ref} - tests"},
    "auth": {"kind": "basic", "username": "{credentials.key}", "password": "{credentials.secret}"},
    "paging": {"strategy": "page", "first_page": 1, "last_path": "last"},
    "records": {"path": "items", "total_path": "total", "size_path": "size"},
    "fields": {
        "listing_ref": {"path": "id"},
        "title": {"path": "title"},
        "price": {"path": "price", "format": "1.234,56"},
        "currency": {"path": "currency"},
        "quantity": {"path": "stock"},
        "status": {"path": "live"},
    },
    "attributes": {"brand": {"path": "brand.name", "type": "string"}},
    "capabilities": {
        "max_page_size": 50,
        "stable_sort": True,
        "cursor_survives": True,
        "cursor_ttl_seconds": 300,
    },
    "rate_limit": {"scope": "account", "requests": 50, "seconds": 10},
    "errors": {
        "code_path": "error.code",
        "codes": {"cursor_expired": "reset_paging"},
        "statuses": {"423": "rate_limited"},
    },
}

ACCOUNT = Account("shop-1", {"seller_id": 42, "site": "tr"}, {"key": "k", "secret": "s"})


def document(**changes: object) -> dict[str, Any]:
    """The example with some of its top fields replaced, or removed where the change is None."""
    changed = {**copy.deepcopy(DOCUMENT), **changes}
    return {name: value for name, value in changed.items() if value is not None}


def connector(**changes: object) -> RestConnector:
    """A connector from the example with changes."""
    return RestConnector(read(document(**changes), "example"))


def response(body: bytes | str, status: int = 200, **headers: str) -> Response:
    """An answer received at `NOW`; header names are given with underscores."""
    raw = body.encode() if isinstance(body, str) else body
    named = {"content-type": "application/json"} | {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(status, named, raw, "https://api.example.test/v1/sellers/42/items", NOW)
