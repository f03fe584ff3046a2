"""Campaign, heartbeat and resignation of the leadership."""

from marshmallow import Schema, fields

from shared.wire.fields import Count, Instant, Seconds


class LeadershipAnswer(Schema):
    """Who leads.

    ``elected`` is true only for the boot that asked and holds the lease; it then trusts its term for
    ``lease_remaining_seconds`` less one, counted from before it sent the request. ``eligible_at`` is when another
    server may be elected, absent a renewal; null means now.
    """

    elected = fields.Boolean(required=True)
    fencing_token = Count(required=True, most=2**63 - 1)
    lease_remaining_seconds = Seconds(required=True)
    leader_server_id = fields.String(required=True, allow_none=True)
    eligible_at = Instant(required=True, allow_none=True)
