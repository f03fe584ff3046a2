"""The catalogue: an account's listings as last seen, and what appeared or changed.

Stored listings are read without locks: only the owner of an account's one active task writes them, and the caller
holds that task's lock.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from typing import Any

import msgspec

from coordinator.database import Row, Transaction
from shared.listing import PRICE_DECIMALS, Listing, content_hash

FIRST_CRAWL = 1


@dataclass(frozen=True)
class Source:
    """Where listings come from: which crawl of which account, and the acquisition and batch that carry them."""

    account_id: int
    marketplace_code: str
    crawl_no: int
    task_id: int
    fencing_token: int
    batch_no: int
    now: datetime


class Verdict(Enum):
    """How a listing compares with what is stored.

    ``APPEARED`` is new, or back after it was delisted. ``REHASHED`` was hashed by another recipe before: it is written,
    but nothing says that it changed. ``UNCHANGED`` is only marked as seen.
    """

    APPEARED = 1
    CHANGED = 2
    REHASHED = 3
    UNCHANGED = 4


@dataclass(frozen=True)
class Compared:
    """A listing, its hash and its verdict; ``changed_at`` and ``old`` are the stored row's, where they are needed."""

    listing: Listing
    content_hash: bytes
    verdict: Verdict
    changed_at: datetime | None = None
    old: Row | None = None


def compare(tx: Transaction, account_id: int, listings: Sequence[Listing]) -> list[Compared]:
    """Compare ``listings``, of which no two have the same ``listing_ref``, with the account's; in the same order."""
    refs = [listing.listing_ref for listing in listings]
    stored = _by_ref(tx, "listing_read_hashes", account_id, refs)
    found = [_compared(listing, stored.get(listing.listing_ref)) for listing in listings]
    changed = [each.listing.listing_ref for each in found if each.verdict is Verdict.CHANGED]
    old = _by_ref(tx, "listing_read_content", account_id, changed)
    return [
        Compared(each.listing, each.content_hash, each.verdict, each.changed_at, old.get(each.listing.listing_ref))
        for each in found
    ]


def write(tx: Transaction, source: Source, found: Sequence[Compared]) -> None:
    """Store what is new or other than stored, and mark the rest as seen in this crawl."""
    rows = [
        {
            **_columns(each.listing),
            "listing_ref": each.listing.listing_ref,
            "content_hash": each.content_hash,
            "changed_at": each.changed_at or source.now,
        }
        for each in found
        if each.verdict is not Verdict.UNCHANGED
    ]
    tx.many("listing_upsert", rows, **asdict(source))
    if seen := [each.listing.listing_ref for each in found if each.verdict is Verdict.UNCHANGED]:
        tx.execute("listing_mark_seen", account_id=source.account_id, crawl_no=source.crawl_no, listing_refs=seen)


def record_changes(tx: Transaction, source: Source, found: Sequence[Compared]) -> None:
    """Write what appeared and changed into the feed, old and new content whole.

    An account's first crawl writes nothing that appeared: whoever follows the feed starts from a snapshot.
    """
    rows = [
        {
            "listing_ref": each.listing.listing_ref,
            "kind": each.verdict.name.lower(),
            "old": None if each.old is None else _document(each.old),
            "new": _document(_columns(each.listing)),
        }
        for each in found
        if each.verdict is Verdict.CHANGED or (each.verdict is Verdict.APPEARED and source.crawl_no > FIRST_CRAWL)
    ]
    tx.many("change_insert", rows, **asdict(source))


def _by_ref(tx: Transaction, query: str, account_id: int, refs: Sequence[str]) -> dict[str, Row]:
    rows = tx.all(query, account_id=account_id, listing_refs=list(refs)) if refs else []
    return {row["listing_ref"]: row for row in rows}


def _compared(listing: Listing, stored: Row | None) -> Compared:
    fresh = content_hash(listing)
    if stored is None or stored["delisted_at"] is not None:
        return Compared(listing, fresh, Verdict.APPEARED)
    if stored["content_hash"] == fresh:
        return Compared(listing, fresh, Verdict.UNCHANGED)
    if stored["content_hash"][0] != fresh[0]:
        return Compared(listing, fresh, Verdict.REHASHED, stored["changed_at"])
    return Compared(listing, fresh, Verdict.CHANGED)


def _columns(listing: Listing) -> Row:
    """The content as columns, named as in ``listings``."""
    return {
        "parent_ref": listing.parent_ref,
        "title": listing.title,
        "title_cut": listing.title_cut,
        "sku": listing.sku,
        "barcode": listing.barcode,
        "price": _price(listing.price),
        "list_price": _price(listing.list_price),
        "currency": listing.currency,
        "quantity": listing.quantity,
        "status": listing.status.value,
        "attributes": msgspec.json.encode(listing.attributes).decode(),
    }


def _price(value: Decimal | None) -> str | None:
    return None if value is None else f"{value:.{PRICE_DECIMALS}f}"


def _document(columns: Row) -> str:
    """The content as JSON, alike for a stored row and one about to be stored: prices are strings."""
    content: dict[str, Any] = {name: value for name, value in columns.items() if name != "listing_ref"}
    content["title_cut"] = bool(content["title_cut"])
    content["attributes"] = msgspec.Raw(content["attributes"].encode())
    return msgspec.json.encode(content).decode()
