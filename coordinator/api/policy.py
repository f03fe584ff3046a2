"""``GET /policy``."""

from typing import Any

from coordinator.api.parsing import Calls
from coordinator.api.transactions import current_policy, run
from shared import policy as policies
from shared.wire.policy import PolicyAnswer

blueprint = Calls("policy", __name__, description="The numbers that coordinator and workers must not hold differently")


@blueprint.get("/policy")
@blueprint.response(200, PolicyAnswer)
def read_policy() -> dict[str, Any]:
    """The policy in force, for any key."""
    current = run(lambda _: current_policy())
    return {
        "version": current.version,
        "digest": current.digest,
        "policy": policies.to_document(current.policy),
    }
