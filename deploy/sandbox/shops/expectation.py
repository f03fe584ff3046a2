"""The part of an expected listing in which all simulated marketplaces agree."""

import msgspec

from deploy.sandbox.items import Item
from shared.listing import MAX_TITLE_CHARACTERS, Listing
from shared.states import ListingStatus


def listing(item: Item, listing_ref: str, **shown: object) -> Listing:
    """The listing that must come of an item; `shown` is what only some marketplaces show, or show differently.

    Raises `TypeError` for a field that listings do not have.
    """
    common = Listing(
        listing_ref=listing_ref,
        title=item.title[:MAX_TITLE_CHARACTERS],
        title_cut=len(item.title) > MAX_TITLE_CHARACTERS,
        sku=item.sku,
        price=item.price,
        quantity=item.quantity,
        status=ListingStatus.ACTIVE if item.offered else ListingStatus.INACTIVE,
    )
    return msgspec.structs.replace(common, **shown)
