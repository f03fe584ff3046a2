"""The sandbox as a WSGI application."""

from pathlib import Path

import msgspec
from flask import Flask, Response

from deploy.sandbox import control
from deploy.sandbox.conduct import Trouble
from deploy.sandbox.market import Market
from deploy.sandbox.settings import Settings, load
from deploy.sandbox.shops import bazaar, harbour, meridian, quayside
from deploy.sandbox.shops.exchange import json_response


def create(settings: Settings) -> Flask:
    """The application: four marketplaces below their codes, and the controls below `/control`."""
    app = Flask(__name__)
    market = Market(settings)
    for shop in (bazaar, harbour, meridian, quayside):
        app.register_blueprint(shop.blueprint(market))
    app.register_blueprint(control.blueprint(market))
    app.register_error_handler(Trouble, _trouble)
    app.register_error_handler(msgspec.DecodeError, _misunderstood)
    return app


def from_file(file: str) -> Flask:
    """The application of a configuration file."""
    return create(load(Path(file)))


def _trouble(trouble: Trouble) -> Response:
    response = json_response({"error": {"code": trouble.code}}, trouble.headers)
    response.status_code = trouble.status
    return response


def _misunderstood(error: msgspec.DecodeError) -> Response:
    response = json_response({"error": {"code": "bad_request", "message": str(error)}})
    response.status_code = 422
    return response
