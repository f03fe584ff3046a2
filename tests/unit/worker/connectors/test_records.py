"""A raw record becomes a listing, or a reject that says why."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.listing import MAX_ATTRIBUTES_BYTES, Listing, Reject
from shared.states import ListingStatus
from tests.unit.worker.connectors.example import DOCUMENT, connector

CONNECTOR = connector()
GOOD: dict[str, Any] = {
    "id": "0042",
    "title": "🎁 Çay",
    "price": "1.234,50",
    "currency": "try",
    "stock": 3,
    "live": True,
    "brand": {"name": "Norda"},
}


def normalized(**changes: object) -> Listing | Reject:
    return CONNECTOR.normalize({**GOOD, **changes})


def test_reads_a_record() -> None:
    assert normalized() == Listing(
        listing_ref="0042",
        title="🎁 Çay",
        status=ListingStatus.ACTIVE,
        price=Decimal("1234.50"),
        currency="TRY",
        quantity=3,
        attributes={"brand": "Norda"},
    )


@pytest.mark.parametrize(
    ("changes", "name", "value"),
    [
        ({"id": 42}, "listing_ref", "42"),
        ({"id": "00000000000000000042"}, "listing_ref", "00000000000000000042"),
        ({"live": False}, "status", ListingStatus.INACTIVE),
        ({"price": None}, "price", None),
        ({"price": ""}, "price", None),
        ({"price": 12}, "price", Decimal(12)),
        ({"currency": None}, "currency", None),
        ({"currency": ""}, "currency", None),
        ({"stock": None}, "quantity", None),
        ({"stock": -2}, "quantity", -2),
        ({"title": None}, "title", ""),
        ({"title": 1984}, "title", "1984"),
        ({"brand": None}, "attributes", {"brand": None}),
    ],
)
def test_reads_odd_values(changes: dict[str, object], name: str, value: object) -> None:
    listing = normalized(**changes)

    assert isinstance(listing, Listing), listing
    assert getattr(listing, name) == value


@pytest.mark.parametrize(("length", "cut"), [(511, False), (512, False), (513, True), (5000, True)])
def test_cuts_a_long_title_and_marks_it(length: int, *, cut: bool) -> None:
    title = "🎁" + "x" * (length - 1)
    listing = normalized(title=title)

    assert isinstance(listing, Listing)
    assert listing.title == title[:512]
    assert listing.title_cut is cut


@pytest.mark.parametrize(
    ("changes", "reason", "ref"),
    [
        ({"id": None}, "listing_ref_missing", None),
        ({"id": " "}, "listing_ref_missing", None),
        ({"id": []}, "listing_ref_unreadable", None),
        ({"id": True}, "listing_ref_unreadable", None),
        ({"id": Decimal("1.5")}, "listing_ref_unreadable", None),
        ({"id": "x" * 192}, "listing_invalid", None),
        ({"title": {"tr": "Çay"}}, "title_unreadable", "0042"),
        ({"title": "half \ud83c"}, "title_unreadable", "0042"),
        ({"price": "12.50"}, "price_unreadable", "0042"),
        ({"price": "1,23456"}, "listing_invalid", "0042"),
        ({"price": 10**15}, "listing_invalid", "0042"),
        ({"price": Decimal("NaN")}, "price_unreadable", "0042"),
        ({"currency": "TL"}, "listing_invalid", "0042"),
        ({"stock": "many"}, "quantity_unreadable", "0042"),
        ({"stock": 2**60}, "listing_invalid", "0042"),
        ({"live": None}, "status_missing", "0042"),
        ({"live": "yes"}, "status_unreadable", "0042"),
        ({"brand": {"name": []}}, "attribute_unreadable", "0042"),
        ({"brand": {"name": "x" * MAX_ATTRIBUTES_BYTES}}, "listing_invalid", "0042"),
    ],
)
def test_rejects_with_reason_and_identity(changes: dict[str, object], reason: str, ref: str | None) -> None:
    reject = normalized(**changes)

    assert isinstance(reject, Reject), reject
    assert (reject.reason, reject.record_ref) == (reason, ref)
    assert reject.detail
    assert msgspec.convert(msgspec.to_builtins(reject), Reject) == reject, "the reject itself must be sendable"


def test_an_attribute_of_any_name_makes_a_sendable_reject() -> None:
    weighed = connector(attributes={"Gewicht (kg) " * 9: {"path": "kg", "type": "decimal"}})
    reject = weighed.normalize({**GOOD, "kg": "heavy"})

    assert isinstance(reject, Reject)
    assert msgspec.convert(msgspec.to_builtins(reject), Reject) == reject


@pytest.mark.parametrize("raw", [None, 5, "text", [], [GOOD]])
def test_rejects_what_is_no_record(raw: object) -> None:
    reject = CONNECTOR.normalize(raw)

    assert isinstance(reject, Reject)
    assert reject.reason == "record_not_an_object"


def test_a_status_in_words_is_active_only_for_the_declared_ones() -> None:
    words = connector(fields={**DOCUMENT["fields"], "status": {"path": "state", "active": ["ON", "SALE"]}})
    states = {"ON": "active", "SALE": "active", "on": "inactive", "OFF": "inactive"}

    for word, status in states.items():
        listing = words.normalize({**GOOD, "state": word})
        assert isinstance(listing, Listing)
        assert listing.status == status


def test_a_constant_is_the_same_everywhere() -> None:
    constant = connector(fields={**DOCUMENT["fields"], "currency": {"value": "EUR"}})
    listing = constant.normalize({**GOOD, "currency": "USD"})

    assert isinstance(listing, Listing)
    assert listing.currency == "EUR"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals() | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)  # a busy machine is no failure
@given(raw=st.fixed_dictionaries({}, optional=dict.fromkeys(GOOD, JSON)) | JSON)
def test_any_record_ends_as_a_sendable_listing_or_reject(raw: object) -> None:
    outcome = CONNECTOR.normalize(raw)

    kind = type(outcome)
    assert kind in {Listing, Reject}
    assert msgspec.json.decode(msgspec.json.encode(outcome), type=kind) == outcome
