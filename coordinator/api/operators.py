"""What operators see, and their verbs: reading for operators and viewers, writing for operators."""

from typing import Any

from coordinator import accounts, outcomes, pages, status
from coordinator.accounts import Standing
from coordinator.api.parsing import Calls
from coordinator.api.tasks import TASK
from coordinator.api.transactions import actor, caller, policy, run
from coordinator.outcomes import Outcome
from coordinator.pages import AccountLine, Page, ServerLine, TaskLine
from coordinator.status import Cluster
from shared.states import Role
from shared.wire.operators import AccountStanding, ClusterAnswer, VerbRequest
from shared.wire.pages import AccountsPage, AccountsQuery, ServersPage, ServersQuery, TasksPage, TasksQuery
from shared.wire.pages import TaskLine as TaskLineAnswer
from shared.wire.tasks import OutcomeAnswer

ACCOUNT = f"/accounts/<int(max={2**63 - 1}):account_id>"

blueprint = Calls("operators", __name__, description="The cluster as people see it, and what they may do")


@blueprint.get("/cluster")
@blueprint.response(200, ClusterAnswer)
def cluster() -> Cluster:
    """How the cluster stands."""
    _require_reader()
    return run(lambda tx: status.cluster(tx, policy()))


@blueprint.get("/servers")
@blueprint.arguments(ServersQuery, location="query")
@blueprint.response(200, ServersPage)
def list_servers(query: dict[str, Any]) -> Page[ServerLine]:
    """Servers by name."""
    _require_reader()
    return run(lambda tx: pages.servers(tx, **query))


@blueprint.get("/tasks")
@blueprint.arguments(TasksQuery, location="query")
@blueprint.response(200, TasksPage)
def list_tasks(query: dict[str, Any]) -> Page[TaskLine]:
    """Tasks by their number."""
    _require_reader()
    return run(lambda tx: pages.tasks(tx, **query))


@blueprint.get(TASK)
@blueprint.response(200, TaskLineAnswer)
def read_task(task_id: int) -> TaskLine:
    """One task."""
    _require_reader()
    return run(lambda tx: pages.task(tx, task_id))


@blueprint.get("/accounts")
@blueprint.arguments(AccountsQuery, location="query")
@blueprint.response(200, AccountsPage)
def list_accounts(query: dict[str, Any]) -> Page[AccountLine]:
    """Accounts by their number."""
    _require_reader()
    return run(lambda tx: pages.accounts(tx, **query))


@blueprint.post(f"{TASK}/cancel")
@blueprint.response(200, OutcomeAnswer)
def cancel(task_id: int) -> Outcome:
    """End a waiting task, or tell the owner of a running one to let go."""
    caller().require_role(Role.OPERATOR)
    return run(lambda tx: outcomes.cancel(tx, task_id, actor()))


@blueprint.post(f"{ACCOUNT}/pause")
@blueprint.arguments(VerbRequest)
@blueprint.response(200, AccountStanding)
def pause(seen: dict[str, Any], account_id: int) -> Standing:
    """Stop starting crawls of an account; what runs goes on."""
    caller().require_role(Role.OPERATOR)
    return run(lambda tx: accounts.pause(tx, account_id, seen["row_version"], actor()))


@blueprint.post(f"{ACCOUNT}/resume")
@blueprint.arguments(VerbRequest)
@blueprint.response(200, AccountStanding)
def resume(seen: dict[str, Any], account_id: int) -> Standing:
    """Let a paused account be crawled again."""
    caller().require_role(Role.OPERATOR)
    return run(lambda tx: accounts.resume(tx, account_id, seen["row_version"], actor()))


def _require_reader() -> None:
    caller().require_role(Role.OPERATOR, Role.VIEWER)
