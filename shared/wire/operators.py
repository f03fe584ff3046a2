"""The cluster as operators see it, and their verbs."""

from marshmallow import Schema, fields

from shared.states import TaskState
from shared.wire.fields import Count, Instant
from shared.wire.leadership import LeadershipAnswer


class Freshness(Schema):
    """How many accounts there are by the age of their data."""

    on_time = Count(required=True)
    catching_up = Count(required=True)
    late = Count(required=True)
    action_required = Count(required=True)
    paused = Count(required=True)


class InstantAhead(Schema):
    """An alarm: a stored instant that lies in the future."""

    column = fields.String(required=True)
    instant = Instant(required=True)
    seconds_ahead = fields.Float(required=True)


class ClusterAnswer(Schema):
    """``GET /cluster``: who leads, capacity and what runs, tasks by state, accounts by freshness, alarms."""

    now = Instant(required=True)
    leadership = fields.Nested(LeadershipAnswer, required=True)
    active_servers = Count(required=True)
    capacity = Count(required=True)
    running = Count(required=True)
    tasks = fields.Dict(keys=fields.Enum(TaskState, by_value=True), values=Count(), required=True)
    accounts = fields.Nested(Freshness, required=True)
    instants_ahead = fields.List(fields.Nested(InstantAhead), required=True)


class VerbRequest(Schema):
    """A verb on an account: the ``row_version`` that the operator saw, so that nobody's change is overlooked."""

    row_version = Count(required=True, least=1)


class AccountStanding(Schema):
    """How an account stands after a verb."""

    account_id = fields.Integer(required=True)
    paused = fields.Boolean(required=True)
    row_version = Count(required=True)
    task_state = fields.Enum(TaskState, by_value=True, required=True, allow_none=True)
