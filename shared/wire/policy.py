"""``GET /policy``."""

from marshmallow import Schema, fields

from shared.wire.fields import Count


class PolicyAnswer(Schema):
    """The current policy; ``policy`` holds the members of ``shared.policy.Policy``."""

    version = Count(required=True)
    digest = fields.String(required=True)
    policy = fields.Dict(keys=fields.String(), required=True)
