"""Harbour: offset and limit, both mandatory, with a total; user name and password; prices such as `1.234,56`.

It repeats the limit that was asked for, also when it gave fewer, and refuses bad credentials in plain text.
"""

from decimal import Decimal

from flask import Blueprint, Response

from deploy.sandbox.conduct import Trouble
from deploy.sandbox.items import Item
from deploy.sandbox.market import Market
from deploy.sandbox.shops import expectation
from deploy.sandbox.shops.exchange import basic_credentials, json_response, number
from shared.listing import Listing

CODE = "harbour"


def blueprint(market: Market) -> Blueprint:
    """The marketplace's addresses."""
    shop = Blueprint(CODE, __name__, url_prefix=f"/{CODE}")

    @shop.get("/listings/merchantid/<merchant_id>")
    def listings(merchant_id: str) -> Response:
        try:
            credentials = basic_credentials()
        except Trouble:
            return Response("Unauthorized", 401, mimetype="text/plain")
        if market.account_of(CODE, *credentials) != merchant_id:
            return Response("Unauthorized", 401, mimetype="text/plain")
        catalogue = market.catalogue(CODE, merchant_id)
        offset, limit = number("offset"), number("limit", least=1)
        market.behaviours[CODE].meet(merchant_id, catalogue)
        items = catalogue.page(offset, market.behaviours[CODE].page_size(limit))
        return json_response(
            {
                "listings": [record(item) for item in items],
                "totalCount": catalogue.count(),
                "limit": limit,
                "offset": offset,
            }
        )

    return shop


def record(item: Item) -> dict[str, object]:
    """An item as Harbour writes it."""
    return {
        "listingId": f"HB{item.number:08d}",
        "productName": item.title,
        "merchantSku": item.sku,
        "price": _written(item.price),
        "availableStock": item.quantity,
        "state": "SALABLE" if item.offered else "SUSPENDED",
        "dispatchTime": item.handling_days,
    }


def expected(item: Item) -> Listing:
    """The listing that must come of an item: Harbour shows no barcode, and sells in Turkish lira without saying so."""
    attributes = {"handling_days": item.handling_days}
    return expectation.listing(item, f"HB{item.number:08d}", currency="TRY", attributes=attributes)


def _written(price: Decimal | None) -> str:
    """A price with dots between thousands and a comma before the cents; nothing for none."""
    return "" if price is None else f"{price:,.2f}".translate(str.maketrans(",.", ".,"))
