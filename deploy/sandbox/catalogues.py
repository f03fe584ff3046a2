"""What a crawl of an account must have found, in the listing record's own terms."""

from collections.abc import Callable, Iterator, Mapping

from deploy.sandbox.items import Item
from deploy.sandbox.market import Market
from deploy.sandbox.shops import bazaar, harbour, meridian, quayside
from shared.listing import Listing

_EXPECTED: Mapping[str, Callable[[Item], Listing]] = {
    shop.CODE: shop.expected for shop in (bazaar, harbour, meridian, quayside)
}


def catalogue(market: Market, marketplace_code: str, account_ref: str) -> Iterator[Listing]:
    """An account's expected listings as it stands now, one by one. Raises `KeyError`."""
    return map(_EXPECTED[marketplace_code], market.items(marketplace_code, account_ref))
