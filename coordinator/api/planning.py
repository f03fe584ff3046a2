"""``/plan`` and ``/housekeeping``: what the Chief does for the cluster."""

from typing import Any

from coordinator import housekeeping, planning, recovery
from coordinator.api.parsing import Calls
from coordinator.api.services import services
from coordinator.api.transactions import caller, policy, run
from coordinator.planning import Candidates, Plan, Planned, PlannedTask
from shared.states import Role
from shared.wire.identity import Fenced
from shared.wire.plan import CandidatesAnswer, CandidatesQuery, HousekeepingAnswer, PlanAnswer, PlanRequest

blueprint = Calls("planning", __name__, description="What the Chief does for the cluster")


@blueprint.get("/plan/candidates")
@blueprint.arguments(CandidatesQuery, location="query")
@blueprint.response(200, CandidatesAnswer)
def candidates(query: dict[str, Any]) -> Candidates:
    """Accounts that are due soon and have no active task."""
    caller().require_role(Role.SERVER)
    return run(lambda tx: planning.candidates(tx, policy(), query["limit"]))


@blueprint.post("/plan")
@blueprint.arguments(PlanRequest)
@blueprint.response(200, PlanAnswer)
def submit(said: dict[str, Any]) -> Planned:
    """Create tasks; the same plan again is answered as before."""
    caller().require_server(said["server_id"])
    plan = Plan(**{**said, "tasks": [PlannedTask(**task) for task in said["tasks"]]})
    return run(lambda tx: planning.submit(tx, policy(), plan))


@blueprint.post("/housekeeping")
@blueprint.arguments(Fenced)
@blueprint.response(200, HousekeepingAnswer)
def keep_house(leader: dict[str, Any]) -> dict[str, int]:
    """One bounded round: remove what is past its retention, recover expired tasks, wake delayed ones."""
    caller().require_server(leader["server_id"])
    tidied = run(lambda tx: housekeeping.run(tx, policy(), **leader))
    swept = recovery.sweep(services().database, policy(), housekeeping.RECOVERY_LIMIT)
    return {
        "nonces_deleted": tidied.nonces_deleted,
        "history_deleted": tidied.history_deleted,
        "tasks_recovered": swept.recovered,
        "tasks_woken": swept.woken,
    }
