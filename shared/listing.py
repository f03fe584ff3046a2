"""The listing record, the flush body that carries it, and the hash that tells whether a listing changed.

Bodies are decoded and checked by msgspec in one pass over the raw bytes: a batch of 100 is the hot path.
"""

import hashlib
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from shared.states import ListingStatus

MAX_TITLE_CHARACTERS = 512
MAX_REF_CHARACTERS = 191
MAX_ATTRIBUTES_BYTES = 16 * 1024
MAX_CURSOR_BYTES = 4 * 1024
MAX_BATCH_BYTES = 4 * 1024 * 1024
MAX_BODY_BYTES = 64 * 1024
MAX_BATCH_REJECTS = 1000
PRICE_DECIMALS = 4
MAX_PRICE = Decimal(10) ** 14
RECIPE_VERSION = 1

Ref = Annotated[str, Meta(min_length=1, max_length=MAX_REF_CHARACTERS)]
Count = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Attribute = str | int | float | bool | None


class Listing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One sellable unit as the marketplace shows it; prices in units of ``currency``, unknown values are None."""

    listing_ref: Ref
    title: Annotated[str, Meta(max_length=MAX_TITLE_CHARACTERS)]
    status: ListingStatus = ListingStatus.ACTIVE
    parent_ref: Ref | None = None
    title_cut: bool = False
    sku: Ref | None = None
    barcode: Ref | None = None
    price: Decimal | None = None
    list_price: Decimal | None = None
    currency: Annotated[str, Meta(pattern="^[A-Z]{3}$", max_length=3)] | None = None
    quantity: Annotated[int, Meta(ge=-(2**53), le=2**53)] | None = None
    attributes: dict[Annotated[str, Meta(min_length=1, max_length=128)], Attribute] = {}

    def __post_init__(self) -> None:
        _check_price("price", self.price)
        _check_price("list_price", self.list_price)
        if self.attributes and len(msgspec.json.encode(self.attributes)) > MAX_ATTRIBUTES_BYTES:
            raise ValueError(f"attributes take more than {MAX_ATTRIBUTES_BYTES} bytes: send fewer or shorter ones")


class Reject(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A raw record that could not be normalised: what was wrong, and its identity where one could be read."""

    reason: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[a-z0-9_]+$")]
    detail: Annotated[str, Meta(max_length=512)] = ""
    record_ref: Ref | None = None


class Batch(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The body of a flush: whole pages' listings and the checkpoint that is true once they are durable.

    Counts are those of this epoch: ``current_page`` pages, ``processed_count`` raw records (rejects and duplicates
    too). ``enumeration`` turns to guessed once and stays. A split page's earlier batches repeat the old checkpoint.
    """

    server_id: Annotated[str, Meta(min_length=1, max_length=64)]
    boot_id: Annotated[str, Meta(min_length=36, max_length=36)]
    fencing_token: Annotated[int, Meta(ge=1, le=2**63 - 1)]
    current_page: Count
    last_cursor_token: str | None
    processed_count: Count
    total_discovered_count: Count | None
    listings: list[Listing]
    rejects: Annotated[list[Reject], Meta(max_length=MAX_BATCH_REJECTS)] = []
    cursor_format: Annotated[str, Meta(min_length=1, max_length=64, pattern="^[A-Za-z0-9._/-]+$")]
    guessed: bool = False

    def __post_init__(self) -> None:
        if self.last_cursor_token is not None and len(self.last_cursor_token.encode()) > MAX_CURSOR_BYTES:
            raise ValueError(f"last_cursor_token takes more than {MAX_CURSOR_BYTES} bytes")


def _check_price(name: str, price: Decimal | None) -> None:
    if price is None:
        return
    if not price.is_finite() or abs(price) >= MAX_PRICE:
        raise ValueError(f"{name} must be a finite number below {MAX_PRICE}")
    exponent = price.normalize().as_tuple().exponent
    if isinstance(exponent, int) and -exponent > PRICE_DECIMALS:
        raise ValueError(f"{name} has more than {PRICE_DECIMALS} decimals")


def content_hash(listing: Listing) -> bytes:
    """33 bytes: the recipe's version, then SHA-256 over the listing's content in canonical JSON.

    Equal prices hash alike whatever their number of zeros. The version leads, so that a new recipe is told apart
    from a changed listing.
    """
    content: dict[str, Any] = msgspec.to_builtins(listing)
    for name in ("price", "list_price"):
        value = getattr(listing, name)
        if value is not None:
            content[name] = f"{value + 0:.{PRICE_DECIMALS}f}"  # adding 0 takes the sign from a zero
    encoded = msgspec.json.encode(content, order="sorted")
    return bytes([RECIPE_VERSION]) + hashlib.sha256(encoded).digest()
