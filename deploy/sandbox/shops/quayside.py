"""Quayside: pages linked by the `Link` header, without a total; an API key in a header; a bare list as the body."""

from flask import Blueprint, Response, request, url_for

from deploy.sandbox.conduct import Trouble
from deploy.sandbox.items import FIRST_NUMBER, Item
from deploy.sandbox.market import Market
from deploy.sandbox.shops import expectation
from deploy.sandbox.shops.exchange import json_response, number
from shared.listing import Listing

CODE = "quayside"


def blueprint(market: Market) -> Blueprint:
    """The marketplace's addresses."""
    shop = Blueprint(CODE, __name__, url_prefix=f"/{CODE}")

    @shop.get("/offers")
    def offers() -> Response:
        account_ref = market.account_of(CODE, request.headers.get("X-Api-Key", ""))
        if account_ref is None:
            raise Trouble(401, "api_key_wrong")
        catalogue, limit = market.catalogue(CODE, account_ref), number("limit", 20, least=1)
        behind = number("behind", 0) - FIRST_NUMBER
        market.behaviours[CODE].meet(account_ref, catalogue)
        found, last = catalogue.after(behind, market.behaviours[CODE].page_size(limit))
        links = {} if last is None else {"Link": _links(limit, last + FIRST_NUMBER)}
        return json_response([record(item) for item in found], links)

    return shop


def record(item: Item) -> dict[str, object]:
    """An item as Quayside writes it."""
    return {
        "offer": item.number,
        "caption": item.title,
        "code": item.sku,
        "ean": item.barcode,
        "amount": None if item.price is None else str(item.price),
        "currency": "GBP",
        "count": item.quantity,
        "published": item.offered,
    }


def expected(item: Item) -> Listing:
    """The listing that must come of an item."""
    return expectation.listing(item, str(item.number), barcode=item.barcode, currency="GBP")


def _links(limit: int, behind: int) -> str:
    first = url_for("quayside.offers", limit=limit, _external=True)
    following = url_for("quayside.offers", limit=limit, behind=behind, _external=True)
    return f'<{first}>; rel="first", <{following}>; rel="next"; title="further offers, if any"'
