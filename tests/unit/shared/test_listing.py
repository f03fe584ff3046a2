"""The listing record: what is taken, what is refused with its field named, and when two are the same."""

import json
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from shared.listing import (
    MAX_BATCH_REJECTS,
    MAX_CURSOR_BYTES,
    RECIPE_VERSION,
    Batch,
    Listing,
    Reject,
    content_hash,
)
from shared.states import ListingStatus

LISTING: dict[str, Any] = {
    "listing_ref": "0042",
    "title": "Кофе ☕ 🎁",
    "status": "active",
    "price": "19.90",
    "currency": "TRY",
    "quantity": 3,
    "attributes": {"colour": "red", "weight": 1.5, "new": True, "note": None},
}
CHANGES = [
    ("listing_ref", "42"),
    ("title", "Tea"),
    ("status", "inactive"),
    ("parent_ref", "p"),
    ("title_cut", True),
    ("sku", "s"),
    ("barcode", "b"),
    ("price", "19.91"),
    ("price", None),
    ("list_price", "19.90"),
    ("currency", "EUR"),
    ("quantity", 4),
    ("quantity", None),
    ("attributes", {}),
]
BATCH: dict[str, Any] = {
    "server_id": "server-1",
    "boot_id": "00000000-0000-0000-0000-000000000001",
    "fencing_token": 1,
    "current_page": 1,
    "last_cursor_token": "after-1",
    "processed_count": 1,
    "total_discovered_count": 10,
    "listings": [LISTING],
    "rejects": [{"reason": "no_title"}],
    "cursor_format": "rest/1",
}


def decoded(kind: type[Any], document: dict[str, Any], **members: Any) -> Any:
    return msgspec.json.decode(json.dumps({**document, **members}), type=kind)


def test_a_listing_keeps_what_it_was_given() -> None:
    listing = decoded(Listing, LISTING)
    assert (listing.listing_ref, listing.title, listing.status) == ("0042", "Кофе ☕ 🎁", ListingStatus.ACTIVE)
    assert (listing.price, listing.quantity, listing.parent_ref) == (Decimal("19.90"), 3, None)
    assert msgspec.json.decode(msgspec.json.encode(listing), type=Listing) == listing


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("listing_ref", ""),
        ("listing_ref", "x" * 192),
        ("listing_ref", 42),
        ("title", None),
        ("title", "x" * 513),
        ("status", "sold"),
        ("parent_ref", ""),
        ("sku", "x" * 192),
        ("barcode", 8690000000000),
        ("price", "NaN"),
        ("price", "Infinity"),
        ("price", "1e14"),
        ("price", "-1e14"),
        ("price", "0.00001"),
        ("list_price", "1.23456"),
        ("price", "1.234,56"),
        ("currency", "try"),
        ("currency", "TR"),
        ("currency", "TRY\n"),
        ("quantity", 2**53 + 1),
        ("quantity", 1.5),
        ("attributes", {"": 1}),
        ("attributes", {"x" * 129: 1}),
        ("attributes", {"nested": {}}),
        ("attributes", {f"{n:03}": "x" * 100 for n in range(160)}),
        ("colour", "red"),
    ],
)
def test_what_cannot_be_taken_is_named(member: str, value: object) -> None:
    with pytest.raises(msgspec.ValidationError, match=member):
        decoded(Listing, LISTING, **{member: value})


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("title", "x" * 512),
        ("title", ""),
        ("price", "99999999999999.9999"),
        ("price", "0"),
        ("price", "-5"),
        ("price", None),
        ("quantity", -(2**53)),
        ("attributes", {}),
    ],
)
def test_the_edges_are_taken(member: str, value: object) -> None:
    decoded(Listing, LISTING, **{member: value})


class TestContentHash:
    def test_it_starts_with_the_recipe(self) -> None:
        digest = content_hash(decoded(Listing, LISTING))
        assert len(digest) == 33
        assert digest[0] == RECIPE_VERSION

    @pytest.mark.parametrize("price", ["19.9", "19.90", "19.9000", "199e-1", "1.99e1"])
    def test_equal_prices_are_no_change(self, price: str) -> None:
        assert content_hash(decoded(Listing, LISTING, price=price)) == content_hash(decoded(Listing, LISTING))

    def test_a_zero_has_no_sign(self) -> None:
        assert content_hash(decoded(Listing, LISTING, price="-0")) == content_hash(decoded(Listing, LISTING, price="0"))

    def test_the_order_of_attributes_is_no_change(self) -> None:
        turned = dict(reversed(list(LISTING["attributes"].items())))
        assert content_hash(decoded(Listing, LISTING, attributes=turned)) == content_hash(decoded(Listing, LISTING))

    @pytest.mark.parametrize(("member", "value"), CHANGES)
    def test_every_member_counts(self, member: str, value: object) -> None:
        other = decoded(Listing, LISTING, **{member: value})
        assert content_hash(other) != content_hash(decoded(Listing, LISTING))

    def test_no_member_is_missing_above(self) -> None:
        assert {member for member, _ in CHANGES} == set(Listing.__struct_fields__)

    def test_it_is_the_same_on_every_machine(self) -> None:
        """Stored hashes are compared for years: a change of the recipe needs a new version."""
        listing = Listing(listing_ref="0042", title="Coffee", price=Decimal("19.9"), currency="TRY")
        assert content_hash(listing).hex() == "01aa136e2b074c49e0d90d6ea7b34e46c51a5ad67c8e216d49fffb4550ad28b2f6"


class TestBatch:
    def test_it_carries_listings_rejects_and_the_checkpoint(self) -> None:
        batch = decoded(Batch, BATCH)
        assert batch.listings == [decoded(Listing, LISTING)]
        assert batch.rejects == [Reject(reason="no_title")]
        assert (batch.current_page, batch.last_cursor_token, batch.guessed) == (1, "after-1", False)

    @pytest.mark.parametrize(
        ("member", "value"),
        [
            ("server_id", ""),
            ("boot_id", "short"),
            ("fencing_token", 0),
            ("fencing_token", 2**63),
            ("current_page", -1),
            ("current_page", "1"),
            ("processed_count", 2**31),
            ("last_cursor_token", "é" * (MAX_CURSOR_BYTES // 2 + 1)),
            ("total_discovered_count", -1),
            ("listings", {}),
            ("rejects", [{"reason": "Not a code"}]),
            ("rejects", [{"reason": "x"}] * (MAX_BATCH_REJECTS + 1)),
            ("cursor_format", ""),
            ("guessed", "yes"),
            ("surprise", 1),
        ],
    )
    def test_what_cannot_be_taken_is_named(self, member: str, value: object) -> None:
        with pytest.raises(msgspec.ValidationError, match=member):
            decoded(Batch, BATCH, **{member: value})

    def test_a_cursor_may_fill_its_bound(self) -> None:
        decoded(Batch, BATCH, last_cursor_token="é" * (MAX_CURSOR_BYTES // 2))

    @pytest.mark.parametrize("body", [b'{"x": NaN}', b'{"title": "\\ud800"}', b"[" * 100_000, b"\xff", b""])
    def test_what_is_no_json_is_refused_cleanly(self, body: bytes) -> None:
        with pytest.raises((msgspec.DecodeError, RecursionError, UnicodeDecodeError)):
            msgspec.json.decode(body, type=Batch)
