"""``POST /tasks/acquire``: a server asks for a task."""

from typing import Any

from flask import Response

from coordinator import dispatch, recovery
from coordinator.api.errors import retry_after
from coordinator.api.parsing import Calls
from coordinator.api.services import services
from coordinator.api.transactions import caller, policy, run, settle
from coordinator.dispatch import Request
from coordinator.grants import Grant
from shared.wire.tasks import AcquireAnswer, AcquireRequest

blueprint = Calls("acquisition", __name__, description="How servers get tasks")


@blueprint.post("/tasks/acquire")
@blueprint.arguments(AcquireRequest)
@blueprint.response(200, AcquireAnswer)
@blueprint.alt_response(204, description="There is no task that this server may run now; Retry-After says when to ask")
def acquire(said: dict[str, Any]) -> Grant | Response:
    """Get the best waiting task that the server may run, with the credentials of its account."""
    caller().require_server(said["server_id"])
    settle()
    # Tasks of vanished owners go back first, in transactions of their own: no leader is needed for that.
    recovery.sweep(services().database, policy())
    vault = services().vault
    grant = run(lambda tx: dispatch.acquire(tx, policy(), vault, Request(**said)))
    if grant is not None:
        return grant
    nothing = Response(status=204)
    nothing.headers["Retry-After"] = retry_after(policy().acquire_poll_seconds)
    return nothing
