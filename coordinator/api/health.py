"""Probes for this machine and its load balancer, outside of the prefix and unsigned."""

import structlog
from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from coordinator import schema
from coordinator.api.services import services
from shared.problems import DatabaseUnavailable

blueprint = Blueprint("health", __name__)
_log = structlog.get_logger(__name__)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    """The process answers; says nothing of the database, so that its absence restarts nobody."""
    return jsonify(status="ok")


@blueprint.get("/readyz")
def readyz() -> ResponseReturnValue:
    """Whether requests can be served: the database answers and its schema is the one that was applied."""
    database = services().database
    try:
        state = database.transaction(lambda tx: schema.read_state(tx, database.settings.name))
    except DatabaseUnavailable as problem:
        return jsonify(status="not ready", problems=[problem.detail]), 503
    if problems := state.problems():
        _log.error("schema_drifted", problems=problems)
        return jsonify(status="not ready", problems=problems), 503
    return jsonify(status="ready", schema_version=state.version)
