"""The WSGI application: blueprints under the prefix, OpenAPI generated from them, errors as problem documents."""

import http
from importlib.metadata import version
from typing import Any

import marshmallow
import msgspec
from flask import Flask
from flask_smorest import Api
from marshmallow import fields

from coordinator.api import (
    access,
    acquisition,
    errors,
    gate,
    health,
    leadership,
    operators,
    planning,
    policy,
    servers,
    services,
    tasks,
)
from coordinator.configuration import Configuration
from shared import problems
from shared.listing import Batch

_DISTRIBUTION = "distributed-marketplace-processing"
_SIGNATURE_SCHEME = {
    "type": "apiKey",
    "in": "header",
    "name": "Signature",
    "description": "RFC 9421 with hmac-sha256, label sig1, tag marketplace-v1, over @method, @authority, @path, @query"
    " and content-digest (RFC 9530); parameters created, keyid, alg, nonce and tag.",
}


class ProblemDocument(marshmallow.Schema):
    """RFC 9457; ``code`` is stable, further members depend on it."""

    type = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True, validate=marshmallow.validate.OneOf(sorted(problems.BY_CODE)))
    title = fields.String(required=True)
    detail = fields.String(required=True)
    errors = fields.Dict(keys=fields.String(), values=fields.String())


class ProblemApi(Api):
    """Documents errors as what they are, and leaves answering them to ``coordinator.api.errors``."""

    ERROR_SCHEMA = ProblemDocument

    def _register_error_handlers(self) -> None:
        """Nothing: the application answers its errors itself, those outside of the prefix too."""

    def _register_responses(self) -> None:
        # DEFAULT_ERROR is the name that flask-smorest's blueprints refer to.
        named = {status.name: (status.phrase, status) for status in http.HTTPStatus}
        for name, (phrase, status) in {**named, self.DEFAULT_ERROR_RESPONSE_NAME: ("An error", None)}.items():
            response: dict[str, Any] = {"description": phrase}
            if status is None or status >= 400:
                response["content"] = {problems.MEDIA_TYPE: {"schema": ProblemDocument}}
            self.spec.components.response(name, response, lazy=True)


def create_app(configuration: Configuration) -> Flask:
    """The application. Raises ``ConfigurationError`` when the key file cannot be used; opens no connection yet."""
    app = Flask("coordinator", static_folder=None)
    app.url_map.strict_slashes = True
    app.url_map.redirect_defaults = False
    app.url_map.merge_slashes = False
    app.json.sort_keys = False  # type: ignore[attr-defined]  # the default provider has it
    app.config.update(
        API_TITLE="Distributed Marketplace Processing: coordinator",
        API_VERSION=version(_DISTRIBUTION),
        OPENAPI_VERSION="3.1.0",
        OPENAPI_URL_PREFIX=gate.PREFIX,
        OPENAPI_JSON_PATH="openapi.json",
        PROVIDE_AUTOMATIC_OPTIONS=False,
        PROPAGATE_EXCEPTIONS=False,
    )
    services.install(app, configuration)
    access.install(app)
    gate.install(app)
    errors.install(app)
    app.register_blueprint(health.blueprint)
    _register_calls(app)
    return app


def _register_calls(app: Flask) -> None:
    api = ProblemApi(app, spec_kwargs={"security": [{"signature": []}]})
    api.spec.components.security_scheme("signature", _SIGNATURE_SCHEME)
    _, batch_schemas = msgspec.json.schema_components([Batch], ref_template="#/components/schemas/{name}")
    for name, schema in batch_schemas.items():
        api.spec.components.schema(name, schema)
    for module in (policy, servers, leadership, planning, acquisition, tasks, operators):
        api.register_blueprint(module.blueprint, url_prefix=gate.PREFIX)
