"""Meridian: opaque cursors without a total; bearer tokens; prices such as `1,234.56`.

A cursor belongs to one account, is verified, and may expire.
"""

import hmac
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from time import time

from flask import Blueprint, Response, request

from deploy.sandbox.conduct import Trouble
from deploy.sandbox.items import Item
from deploy.sandbox.market import Market
from deploy.sandbox.shops import expectation
from deploy.sandbox.shops.exchange import json_response, number
from shared.listing import Listing

CODE = "meridian"


def blueprint(market: Market) -> Blueprint:
    """The marketplace's addresses."""
    shop = Blueprint(CODE, __name__, url_prefix=f"/{CODE}")
    key = f"{market.seed}|{CODE}|cursors".encode()

    @shop.get("/v1/items")
    def items() -> Response:
        account_ref = _admit(market)
        catalogue, behaviour = market.catalogue(CODE, account_ref), market.behaviours[CODE]
        limit, cursor = number("limit", 20, least=1), request.args.get("cursor")
        behaviour.meet(account_ref, catalogue)
        place = None if cursor is None else _read(key, cursor, account_ref, behaviour.conduct.cursor_ttl_seconds)
        found, last = catalogue.after(place, behaviour.page_size(limit))
        following = None if last is None else _issue(key, account_ref, last)
        return json_response({"data": {"items": [record(item) for item in found]}, "paging": {"next": following}})

    return shop


def record(item: Item) -> dict[str, object]:
    """An item as Meridian writes it."""
    return {
        "uid": f"{item.number}",
        "family": f"F-{item.group}",
        "name": item.title,
        "seller_code": item.sku,
        "gtin": item.barcode or "",
        "price": None if item.price is None else {"value": f"{item.price:,.2f}", "currency": "EUR"},
        "stock": [{"warehouse": "main", "units": item.quantity}],
        "live": item.offered,
        "maker": item.maker,
    }


def expected(item: Item) -> Listing:
    """The listing that must come of an item; without a price there is no currency either."""
    return expectation.listing(
        item,
        str(item.number),
        parent_ref=f"F-{item.group}",
        barcode=item.barcode,
        currency=None if item.price is None else "EUR",
        attributes={"maker": item.maker},
    )


def _admit(market: Market) -> str:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    account_ref = market.account_of(CODE, token)
    if scheme.lower() != "bearer" or account_ref is None:
        raise Trouble(401, "token_wrong", {"WWW-Authenticate": "Bearer"})
    return account_ref


def _issue(key: bytes, account_ref: str, index: int) -> str:
    content = f"{account_ref}|{index}|{time():.3f}".encode()
    return urlsafe_b64encode(hmac.digest(key, content, sha256)[:12] + content).decode()


def _read(key: bytes, cursor: str, account_ref: str, ttl_seconds: float | None) -> int:
    """The index behind which a cursor goes on. Raises `Trouble` (400) for one that is forged, foreign or expired."""
    try:
        raw = urlsafe_b64decode(cursor)
        content = raw[12:].decode()
    except ValueError as error:
        raise Trouble(400, "cursor_invalid") from error
    if not hmac.compare_digest(raw[:12], hmac.digest(key, content.encode(), sha256)[:12]):
        raise Trouble(400, "cursor_invalid")
    owner, index, issued_at = content.split("|")
    if owner != account_ref:
        raise Trouble(400, "cursor_invalid")
    if ttl_seconds is not None and time() >= float(issued_at) + ttl_seconds:
        raise Trouble(400, "cursor_expired")
    return int(index)
