"""Bazaar: pages by number, with totals; key and secret; prices as numbers.

It insists on a User-Agent that starts with the seller's id (403 without), and says what page size it really used.
"""

from flask import Blueprint, Response, request

from deploy.sandbox.conduct import Trouble
from deploy.sandbox.items import Item
from deploy.sandbox.market import Market
from deploy.sandbox.shops import expectation
from deploy.sandbox.shops.exchange import basic_credentials, json_response, number
from shared.listing import Listing

CODE = "bazaar"


def blueprint(market: Market) -> Blueprint:
    """The marketplace's addresses."""
    shop = Blueprint(CODE, __name__, url_prefix=f"/{CODE}")

    @shop.get("/sellers/<seller_id>/products")
    def products(seller_id: str) -> Response:
        _admit(market, seller_id)
        catalogue = market.catalogue(CODE, seller_id)
        page, asked = number("page", 0), number("size", 20, least=1)
        market.behaviours[CODE].meet(seller_id, catalogue)
        size, total = market.behaviours[CODE].page_size(asked), catalogue.count()
        return json_response(
            {
                "content": [record(item) for item in catalogue.page(page * size, size)],
                "page": page,
                "size": size,
                "totalElements": total,
                "totalPages": -(-total // size),
                "last": (page + 1) * size >= total,
            }
        )

    return shop


def record(item: Item) -> dict[str, object]:
    """An item as Bazaar writes it."""
    return {
        "id": f"{item.number:010d}",
        "groupId": item.group,
        "title": item.title,
        "stockCode": item.sku,
        "barcode": item.barcode,
        "salePrice": item.price,
        "listPrice": item.list_price,
        "currencyCode": "TRY",
        "quantity": item.quantity,
        "onSale": item.offered,
        "brand": {"name": item.maker},
        "delivery": {"days": item.handling_days, "weightKg": item.weight_kg, "fragile": item.fragile},
    }


def expected(item: Item) -> Listing:
    """The listing that must come of an item."""
    return expectation.listing(
        item,
        f"{item.number:010d}",
        parent_ref=str(item.group),
        barcode=item.barcode,
        list_price=item.list_price,
        currency="TRY",
        attributes={
            "brand": item.maker,
            "handling_days": item.handling_days,
            "weight_kg": str(item.weight_kg),
            "fragile": item.fragile,
        },
    )


def _admit(market: Market, seller_id: str) -> None:
    if market.account_of(CODE, *basic_credentials()) != seller_id:
        raise Trouble(401, "credentials_wrong", {"WWW-Authenticate": "Basic"})
    if not request.headers.get("User-Agent", "").startswith(f"{seller_id} - "):
        raise Trouble(403, "user_agent_missing")
