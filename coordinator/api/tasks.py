"""``/tasks/{id}``: what a task's owner says, from its first heartbeat to how it ends."""

import hashlib
from random import SystemRandom
from typing import Any
from uuid import UUID

from flask import request

from coordinator import credentials, ingest, outcomes, progress
from coordinator.api.errors import invalid
from coordinator.api.parsing import Calls, decode
from coordinator.api.services import services
from coordinator.api.transactions import caller, policy, run
from coordinator.ingest import Flushed
from coordinator.outcomes import Completion, Failed, Outcome
from coordinator.ownership import Owner
from coordinator.progress import Heartbeat
from coordinator.tasks import Counters
from coordinator.waiting import Failure
from shared.listing import Batch
from shared.wire.tasks import (
    BatchAnswer,
    CompleteRequest,
    CredentialsAnswer,
    CredentialsRequest,
    FailRequest,
    OutcomeAnswer,
    ReleaseRequest,
    TaskHeartbeatAnswer,
    TaskHeartbeatRequest,
)

TASK = f"/tasks/<int(max={2**63 - 1}):task_id>"
_BATCH_BODY = {"required": True, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Batch"}}}}
_draws = SystemRandom()

blueprint = Calls("tasks", __name__, description="Crawl tasks, as their owners speak of them")


def owner_of(task_id: int, fenced: dict[str, Any]) -> Owner:
    """Who claims to own the task; takes its members out of ``fenced``. Raises ``Forbidden`` for another server."""
    caller().require_server(fenced["server_id"])
    return Owner(task_id, fenced.pop("server_id"), fenced.pop("boot_id"), fenced.pop("fencing_token"))


@blueprint.post(f"{TASK}/heartbeat")
@blueprint.arguments(TaskHeartbeatRequest)
@blueprint.response(200, TaskHeartbeatAnswer)
def heartbeat(report: dict[str, Any], task_id: int) -> Heartbeat:
    """Extend the lease and record progress; the resume checkpoint moves by batches only."""
    owner = owner_of(task_id, report)
    waited = report.pop("rate_limit_wait_seconds")
    return run(lambda tx: progress.heartbeat(tx, policy(), owner, Counters(**report), waited))


@blueprint.put(f"{TASK}/batches/<int(min=1, max={2**31 - 1}):batch_no>")
@blueprint.doc(requestBody=_BATCH_BODY)
@blueprint.response(201, BatchAnswer)
@blueprint.alt_response(200, schema=BatchAnswer, description="The batch had been applied before")
def flush(task_id: int, batch_no: int) -> tuple[Flushed, int]:
    """Apply a batch with the checkpoint that it reaches, wholly and once; a retry sends identical bytes."""
    body = request.get_data()
    batch = decode(body, Batch)
    caller().require_server(batch.server_id)
    owner = Owner(task_id, batch.server_id, _uuid(batch.boot_id), batch.fencing_token)
    digest = hashlib.sha256(body).digest()
    flushed = run(lambda tx: ingest.flush(tx, policy(), owner, batch_no=batch_no, body_digest=digest, batch=batch))
    return flushed, 200 if flushed.replayed else 201


@blueprint.post(f"{TASK}/complete")
@blueprint.arguments(CompleteRequest)
@blueprint.response(200, OutcomeAnswer)
def complete(said: dict[str, Any], task_id: int) -> Outcome:
    """Complete the task; the same completion again is answered alike."""
    owner = owner_of(task_id, said)
    return run(lambda tx: outcomes.complete(tx, owner, Completion(**said)))


@blueprint.post(f"{TASK}/fail")
@blueprint.arguments(FailRequest)
@blueprint.response(200, OutcomeAnswer)
def fail(said: dict[str, Any], task_id: int) -> Outcome:
    """Give the task up after an error; it is tried again later, or has failed."""
    owner = owner_of(task_id, said)
    failed = Failed(Failure(**said.pop("error")), **said)
    return run(lambda tx: outcomes.fail(tx, policy(), owner, failed, _draws.random()))


@blueprint.post(f"{TASK}/release")
@blueprint.arguments(ReleaseRequest)
@blueprint.response(200, OutcomeAnswer)
def release(said: dict[str, Any], task_id: int) -> Outcome:
    """Let the task go, back to the queue with key and checkpoint."""
    owner = owner_of(task_id, said)
    return run(lambda tx: outcomes.release(tx, owner, said["reason"]))


@blueprint.put(f"{TASK}/credentials")
@blueprint.arguments(CredentialsRequest)
@blueprint.response(200, CredentialsAnswer)
def rotate_credentials(said: dict[str, Any], task_id: int) -> dict[str, int]:
    """Replace the credentials of the task's account, if they are still those that the owner knows."""
    owner = owner_of(task_id, said)
    vault = services().vault
    return {"version": run(lambda tx: credentials.rotate(tx, vault, owner, said["version"], said["values"]))}


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise invalid({"boot_id": "Not a valid UUID."}) from error
