"""The sandbox's controls, for this machine only: conducts, drifts, accounts, expected catalogues, counts."""

from collections.abc import Iterator
from ipaddress import ip_address

import msgspec
from flask import Blueprint, Response, abort, request

from deploy.sandbox.catalogue import Catalogue, Drift
from deploy.sandbox.catalogues import catalogue
from deploy.sandbox.market import Market
from deploy.sandbox.settings import Conduct
from deploy.sandbox.shops.exchange import json_response
from shared.listing import Listing


def blueprint(market: Market) -> Blueprint:
    """The controls' addresses."""
    control = Blueprint("control", __name__, url_prefix="/control")
    control.before_request(_local_only)

    @control.get("/accounts")
    def accounts() -> Response:
        """Every account with the settings and credentials that its connector needs."""
        return json_response([{**_fields(account), **_fields(market.identity(account))} for account in market.accounts])

    @control.get("/accounts/<code>/<account_ref>/catalogue")
    def expected(code: str, account_ref: str) -> Response:
        """The account's expected listings, one JSON document per line."""
        _catalogue(market, code, account_ref)
        return Response(_lines(catalogue(market, code, account_ref)), mimetype="application/x-ndjson")

    @control.post("/accounts/<code>/<account_ref>/drift")
    def drift(code: str, account_ref: str) -> Response:
        """Let something happen to the account's catalogue now."""
        _catalogue(market, code, account_ref).drift(msgspec.json.decode(request.get_data(), type=Drift))
        return Response(status=204)

    @control.put("/marketplaces/<code>/conduct")
    def conduct(code: str) -> Response:
        """Give the marketplace another conduct."""
        if code not in market.behaviours:
            abort(404)
        market.behaviours[code].conduct = msgspec.json.decode(request.get_data(), type=Conduct)
        return Response(status=204)

    @control.get("/counts")
    def counts() -> Response:
        """What each marketplace has done so far: requests, pages, throttled, failed."""
        return json_response({code: dict(behaviour.counts) for code, behaviour in market.behaviours.items()})

    return control


def _local_only() -> None:
    if not ip_address(request.remote_addr or "0.0.0.0").is_loopback:  # noqa: S104 - compared, not bound
        abort(403)


def _catalogue(market: Market, code: str, account_ref: str) -> Catalogue:
    try:
        return market.catalogue(code, account_ref)
    except KeyError:
        abort(404)


def _fields(thing: object) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(thing)
    return fields


def _lines(listings: Iterator[Listing]) -> Iterator[bytes]:
    return (msgspec.json.encode(listing) + b"\n" for listing in listings)
