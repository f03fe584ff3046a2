"""``/leadership``: who leads; campaign, heartbeat, resignation."""

from typing import Any

from coordinator import leadership
from coordinator.api.parsing import Calls
from coordinator.api.transactions import caller, policy, run
from coordinator.leadership import Leadership
from shared.wire.identity import Boot, Fenced
from shared.wire.leadership import LeadershipAnswer

blueprint = Calls("leadership", __name__, description="The cluster's single lease")


@blueprint.get("/leadership")
@blueprint.response(200, LeadershipAnswer)
def read() -> Leadership:
    """Who leads, for any key."""
    return run(lambda tx: leadership.read(tx, policy()))


@blueprint.post("/leadership/campaign")
@blueprint.arguments(Boot)
@blueprint.response(200, LeadershipAnswer)
def campaign(boot: dict[str, Any]) -> Leadership:
    """Be elected, if nobody else leads."""
    caller().require_server(boot["server_id"])
    return run(lambda tx: leadership.campaign(tx, policy(), **boot))


@blueprint.post("/leadership/heartbeat")
@blueprint.arguments(Fenced)
@blueprint.response(200, LeadershipAnswer)
def heartbeat(leader: dict[str, Any]) -> Leadership:
    """Extend the lease."""
    caller().require_server(leader["server_id"])
    return run(lambda tx: leadership.heartbeat(tx, policy(), **leader))


@blueprint.post("/leadership/resign")
@blueprint.arguments(Fenced)
@blueprint.response(200, LeadershipAnswer)
def resign(leader: dict[str, Any]) -> Leadership:
    """Give the leadership up."""
    caller().require_server(leader["server_id"])
    return run(lambda tx: leadership.resign(tx, policy(), **leader))
