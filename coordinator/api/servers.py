"""``/servers/{id}``: a daemon registers, is heard of, and leaves."""

from typing import Any

from coordinator import fleet
from coordinator.api.parsing import Calls
from coordinator.api.transactions import caller, current_policy, policy, run
from coordinator.capabilities import Capability
from coordinator.fleet import Registration, Telemetry
from shared import policy as policies
from shared.wire.servers import (
    DeregisterRequest,
    RegisterAnswer,
    RegisterRequest,
    ServerHeartbeatAnswer,
    ServerHeartbeatRequest,
)

blueprint = Calls("servers", __name__, description="Daemons, each start with a boot of its own")


@blueprint.put("/servers/<server_id>")
@blueprint.arguments(RegisterRequest)
@blueprint.response(200, RegisterAnswer)
def register(presented: dict[str, Any], server_id: str) -> dict[str, Any]:
    """Make a fresh boot the server's current one; the former boot's tasks go back to the queue."""
    caller().require_server(server_id)
    offered = [Capability(**capability) for capability in presented.pop("marketplaces")]
    registration = Registration(server_id, capabilities=offered, **presented)
    now = run(lambda tx: fleet.register(tx, policy(), registration))
    current = current_policy()
    return {"policy": policies.to_document(current.policy), "policy_digest": current.digest, "now": now}


@blueprint.post("/servers/<server_id>/heartbeat")
@blueprint.arguments(ServerHeartbeatRequest)
@blueprint.response(200, ServerHeartbeatAnswer)
def heartbeat(said: dict[str, Any], server_id: str) -> dict[str, Any]:
    """Show that the server lives."""
    caller().require_server(server_id)
    telemetry = Telemetry(**said["telemetry"])
    heard = run(lambda tx: fleet.heartbeat(tx, policy(), server_id, said["boot_id"], telemetry))
    return {"drain": heard.drain, "policy_digest": current_policy().digest, "now": heard.now}


@blueprint.post("/servers/<server_id>/deregister")
@blueprint.arguments(DeregisterRequest)
@blueprint.response(204)
def deregister(said: dict[str, Any], server_id: str) -> None:
    """Leave: leadership and tasks that the server holds are free at once."""
    caller().require_server(server_id)
    run(lambda tx: fleet.deregister(tx, policy(), server_id, said["boot_id"]))
