"""Planning: what the Chief may plan, what it plans, and its housekeeping."""

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from shared.states import SizeClass
from shared.wire.fields import Count, Instant, MarketplaceCode, RowId, Seconds
from shared.wire.identity import Fenced

MAX_PLANNED_TASKS = 100


class CandidatesQuery(Schema):
    """``GET /plan/candidates?limit=``."""

    limit = fields.Integer(load_default=MAX_PLANNED_TASKS, validate=validate.Range(min=1, max=MAX_PLANNED_TASKS))


class Candidate(Schema):
    """An account due within the planning horizon and without an active task."""

    account_id = RowId(required=True)
    marketplace_code = MarketplaceCode(required=True)
    size = Count(required=True, allow_none=True)
    due_at = Instant(required=True)
    yields = fields.Boolean(required=True)


class CandidatesAnswer(Schema):
    """The candidates, most due first, and what the key formula needs besides."""

    candidates = fields.List(fields.Nested(Candidate), required=True)
    longest_refresh_interval_seconds = Seconds(required=True)


class PlannedTask(Schema):
    """A task that the Chief wants: key and class are computed by ``shared.scheduling``."""

    account_id = RowId(required=True)
    due_at = Instant(required=True)
    size = Count(required=True, allow_none=True)
    size_class = fields.Enum(SizeClass, by_value=True, required=True)
    dispatch_key = Instant(required=True)

    @validates_schema
    def _hold_together(self, data: dict[str, object], **_: object) -> None:
        if (data["size"] is None) != (data["size_class"] is SizeClass.PROBE):
            raise ValidationError("must be probe exactly where size is null", "size_class")
        if data["dispatch_key"] < data["due_at"]:  # type: ignore[operator]  # both are instants
            raise ValidationError("must not lie before due_at", "dispatch_key")


class PlanRequest(Fenced):
    """``POST /plan``: at most 100 tasks, in account order, no account twice."""

    plan_id = fields.UUID(required=True)
    tasks = fields.List(
        fields.Nested(PlannedTask), required=True, validate=validate.Length(min=1, max=MAX_PLANNED_TASKS)
    )

    @validates_schema
    def _in_account_order(self, data: dict[str, list[dict[str, int]]], **_: object) -> None:
        ids = [task["account_id"] for task in data["tasks"]]
        if ids != sorted(set(ids)):
            raise ValidationError("must be in ascending account_id order, no account twice", "tasks")


class PlanAnswer(Schema):
    """How many tasks were created, and how many accounts were no longer due or had an active task."""

    created = Count(required=True)
    skipped = Count(required=True)


class HousekeepingAnswer(Schema):
    """What one bounded round did."""

    nonces_deleted = Count(required=True)
    tasks_recovered = Count(required=True)
    tasks_woken = Count(required=True)
    history_deleted = Count(required=True)
