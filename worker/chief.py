"""The Chief's duty: campaign for the leadership, keep it, and while it may be believed plan and keep house.

The term is believed for the remaining lease less a margin, from before the request that renewed it left. What has not
been answered by then is given up, and a late answer to it changes nothing.
"""

import time
import uuid
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import structlog

from shared import scheduling
from shared.problems import (
    BootSuperseded,
    InvalidInput,
    LeaseExpired,
    PlanConflict,
    Problem,
    ServerDraining,
    ServerNotRegistered,
    StaleFencingToken,
)
from worker.client import Answer, Client, CoordinatorUnreachableError
from worker.duty import Duty, FatalError
from worker.identity import Identity
from worker.lease import Lease
from worker.policy_watch import PolicyWatch

_INSTANT = "%Y-%m-%dT%H:%M:%S.%fZ"
_TICK_SECONDS = 0.25
_LEAST_REQUEST_SECONDS = 0.5
_log = structlog.get_logger(__name__)


class Chief(Duty):
    """Worker always, Chief while it holds the lease."""

    name = "chief"

    def __init__(
        self,
        client: Client,
        identity: Identity,
        watch: PolicyWatch,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._client = client
        self._boot = {"server_id": identity.server_id, "boot_id": identity.boot_id}
        self._watch = watch
        self._monotonic = monotonic
        self._campaigning = True
        self._term: Lease | None = None
        self._fencing_token = 0
        self._renew_at = self._plan_at = self._keep_house_at = float("-inf")
        self._unanswered_plan: dict[str, Any] | None = None

    @property
    def leads(self) -> bool:
        """Whether this process may believe that it is Chief."""
        return self._term is not None and self._term.held

    def resign(self) -> None:
        """Campaign no more, and give the leadership up if it is held; one attempt, since it ends by itself."""
        self._campaigning = False
        if not self.leads:
            return
        try:
            self._client.call("POST", "/leadership/resign", self._fenced, deadline_seconds=5.0)
            _log.info("resigned", fencing_token=self._fencing_token)
        except (CoordinatorUnreachableError, Problem) as error:
            _log.warning("resignation_failed", error=str(error))
        self._give_up_term()

    def turn(self) -> float:
        """Do what is due: renewal before planning, planning before housekeeping."""
        try:
            if not self.leads:
                return self._campaign() if self._campaigning else 1.0
            now = self._monotonic()
            if now >= self._renew_at:
                self._renew()
            elif now >= self._plan_at:
                self._plan()
                return 0.0
            elif now >= self._keep_house_at:
                self._keep_house()
            return _TICK_SECONDS
        except (StaleFencingToken, LeaseExpired) as problem:
            _log.warning("term_lost", code=problem.code, fencing_token=self._fencing_token)
            self._give_up_term()
            return _TICK_SECONDS
        except (BootSuperseded, ServerNotRegistered) as problem:
            raise FatalError(problem.detail) from problem
        except ServerDraining:
            return self._watch.current.leader_heartbeat_seconds
        except (CoordinatorUnreachableError, Problem) as error:
            _log.warning("chief_request_failed", error=str(error))
            return 1.0

    @property
    def _fenced(self) -> dict[str, Any]:
        return {**self._boot, "fencing_token": self._fencing_token}

    def _give_up_term(self) -> None:
        self._term, self._unanswered_plan = None, None

    def _campaign(self) -> float:
        answer = self._client.call("POST", "/leadership/campaign", self._boot)
        if not answer.document["elected"]:
            return self._watch.current.leader_heartbeat_seconds
        if answer.document["fencing_token"] != self._fencing_token:
            self._unanswered_plan = None
        self._term = Lease(self._monotonic)
        self._fencing_token = answer.document["fencing_token"]
        self._believe(answer)
        self._plan_at = self._keep_house_at = float("-inf")
        _log.info("elected", fencing_token=self._fencing_token)
        return 0.0

    def _renew(self) -> None:
        self._believe(self._call("POST", "/leadership/heartbeat", self._fenced))

    def _believe(self, answer: Answer) -> None:
        if self._term is not None:
            self._term.renew(answer.sent_at, answer.document["lease_remaining_seconds"])
        self._renew_at = answer.sent_at + self._watch.current.leader_heartbeat_seconds

    def _plan(self) -> None:
        """Make a plan of up to a hundred tasks, or post the one that was made: a renewal may come in between.

        A plan that was not answered is posted again as it was, under its own id.
        """
        if self._unanswered_plan is None:
            tasks = self._planned_tasks()
            if tasks:
                self._unanswered_plan = {**self._fenced, "plan_id": str(uuid.uuid4()), "tasks": tasks}
                return
        else:
            self._post_plan(self._unanswered_plan)
        self._plan_at = self._monotonic() + self._watch.current.plan_interval_seconds

    def _post_plan(self, plan: Mapping[str, Any]) -> None:
        try:
            outcome = self._call("POST", "/plan", plan).document
        except (PlanConflict, InvalidInput) as problem:
            _log.error("plan_refused", detail=problem.detail, errors=problem.members.get("errors"))
        else:
            _log.info("planned", created=outcome["created"], skipped=outcome["skipped"])
        self._unanswered_plan = None

    def _planned_tasks(self) -> list[dict[str, Any]]:
        served = self._call("GET", "/plan/candidates?limit=100").document
        theta = scheduling.theta_seconds(served["longest_refresh_interval_seconds"])
        tasks = [_planned(candidate, theta) for candidate in served["candidates"]]
        return sorted(tasks, key=lambda task: int(task["account_id"]))

    def _keep_house(self) -> None:
        done = self._call("POST", "/housekeeping", self._fenced).document
        _log.debug("kept_house", **done)
        self._keep_house_at = self._monotonic() + self._watch.current.plan_interval_seconds

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Answer:
        """One attempt that takes at most half of what is left of the term, so that a renewal still fits behind it."""
        remaining = self._term.remaining_seconds if self._term is not None else 0.0
        deadline = max(_LEAST_REQUEST_SECONDS, min(remaining / 2, self._watch.current.leader_heartbeat_seconds))
        answer = self._client.call(method, path, body, deadline_seconds=deadline)
        if not self.leads:
            raise CoordinatorUnreachableError("the answer came after the term could be believed")
        return answer


def _planned(candidate: Mapping[str, Any], theta: float) -> dict[str, Any]:
    due_at = datetime.strptime(candidate["due_at"], _INSTANT)  # noqa: DTZ007 - instants are UTC, by the protocol
    size = candidate["size"]
    return {
        "account_id": candidate["account_id"],
        "due_at": candidate["due_at"],
        "size": size,
        "size_class": scheduling.size_class(size, candidate["yields"]),
        "dispatch_key": scheduling.dispatch_key(due_at, size, theta).strftime(_INSTANT),
    }
