"""The comparison finds whatever differs between what is stored and what the marketplaces show."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from deploy.cluster import comparison
from deploy.cluster.comparison import Comparison
from shared.listing import Listing, content_hash
from shared.states import ListingStatus
from tests.integration.seed import Seed

SHOWN = [
    Listing(
        listing_ref=f"00{number}",
        title=f"Tea 🍵 no. {number}",
        title_cut=number == 2,
        price=Decimal("12.5") * number,
        currency="TRY",
        quantity=None if number == 3 else number,
        status=ListingStatus.ACTIVE,
        attributes={"fragile": True, "maker": "Çay", "days": number},
    )
    for number in range(1, 6)
]


class Stored:
    """An account with a stored copy of ``SHOWN``."""

    def __init__(self, seed: Seed) -> None:
        self.seed = seed
        self.account_id = seed.account("bazaar", account_ref="seller-1")
        for listing in SHOWN:
            self.store(listing)

    def store(self, listing: Listing) -> None:
        """Store one more listing."""
        row: dict[str, Any] = msgspec.structs.asdict(listing)
        now = self.seed.now()
        self.seed.insert(
            "listings",
            **{
                **row,
                "attributes": msgspec.json.encode(listing.attributes).decode(),
                "status": listing.status.value,
                "account_id": self.account_id,
                "marketplace_code": "bazaar",
                "content_hash": content_hash(listing),
                "first_seen_at": now,
                "changed_at": now,
                "last_seen_crawl_no": 1,
                "task_id": 1,
                "fencing_token": 1,
                "batch_no": 1,
            },
        )

    def change(self, listing_ref: str, **columns: object) -> None:
        """Change a stored listing."""
        self.seed.update("listings", {"account_id": self.account_id, "listing_ref": listing_ref}, **columns)


@pytest.fixture
def stored(seed: Seed) -> Stored:
    """The stored copy."""
    return Stored(seed)


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that an account takes several."""
    monkeypatch.setattr(comparison, "CHUNK", 2)


def compare(connect: Callable[..., Any]) -> Comparison:
    """Compare with ``SHOWN``."""

    def catalogue(marketplace_code: str, account_ref: str) -> Iterator[Listing]:
        assert (marketplace_code, account_ref) == ("bazaar", "seller-1")
        return iter(SHOWN)

    return comparison.compare(connect(), catalogue, lambda _: None)


def test_equal_sides_match(stored: Stored, connect: Callable[..., Any]) -> None:
    found = compare(connect)
    assert found.matches
    assert (found.expected, found.stored, found.examples) == (5, 5, [])


def test_what_is_not_stored_is_missing(stored: Stored, connect: Callable[..., Any]) -> None:
    stored.seed.execute("DELETE FROM listings WHERE listing_ref = '004'")
    found = compare(connect)
    assert not found.matches
    assert (found.missing, found.unexpected, found.different) == (1, 0, 0)
    assert found.examples == ["bazaar seller-1 004: is missing"]


def test_what_no_marketplace_shows_is_unexpected(stored: Stored, connect: Callable[..., Any]) -> None:
    stored.store(msgspec.structs.replace(SHOWN[0], listing_ref="1"))
    found = compare(connect)
    assert not found.matches
    assert (found.missing, found.unexpected, found.different) == (0, 1, 0)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"title": "Tea no. 3"}, "title is 'Tea no. 3', the marketplace says 'Tea 🍵 no. 3'"),
        ({"title_cut": True}, "title_cut is True, the marketplace says False"),
        ({"price": "37.5001"}, "price is Decimal('37.5001'), the marketplace says Decimal('37.5')"),
        ({"quantity": 0}, "quantity is 0, the marketplace says None"),
        ({"currency": None}, "currency is None, the marketplace says 'TRY'"),
        ({"status": "inactive"}, "status is <ListingStatus.INACTIVE: 'inactive'>, the marketplace says"),
        ({"attributes": '{"fragile": true, "maker": "Cay", "days": 3}'}, "attributes is {"),
    ],
)
def test_any_column_that_differs_is_told(
    stored: Stored, connect: Callable[..., Any], columns: dict[str, object], told: str
) -> None:
    stored.change("003", **columns)
    found = compare(connect)
    assert not found.matches
    assert (found.missing, found.unexpected, found.different) == (0, 0, 1)
    assert found.examples[0].startswith(f"bazaar seller-1 003: {told}")


def test_whoever_asks_to_stop_is_heard(stored: Stored, connect: Callable[..., Any]) -> None:
    class Stop(Exception):  # noqa: N818 - what a caller raises to give up
        pass

    def pause(_: float) -> None:
        raise Stop

    with pytest.raises(Stop):
        comparison.compare(connect(), lambda *_: iter(SHOWN), pause)
