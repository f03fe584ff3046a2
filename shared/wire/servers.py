"""Registration, heartbeat and deregistration of servers."""

from marshmallow import Schema, fields, validate

from shared.wire.fields import Count, Instant, MarketplaceCode, Name, Seconds


class Capability(Schema):
    """A marketplace that a boot can crawl, and the cursor format (connector and version) that it speaks there."""

    marketplace_code = MarketplaceCode(required=True)
    cursor_format = fields.String(required=True, validate=validate.Regexp(r"[A-Za-z0-9._/-]{1,64}\Z"))


class RegisterRequest(Schema):
    """``PUT /servers/{id}``: a fresh boot presents itself and becomes the current one."""

    boot_id = fields.UUID(required=True)
    machine_id = Name(required=True)
    hostname = fields.String(required=True, validate=validate.Length(min=1, max=255))
    version = fields.String(required=True, validate=validate.Regexp(r"[0-9A-Za-z.+-]{1,32}\Z"))
    marketplaces = fields.List(fields.Nested(Capability), required=True, validate=validate.Length(max=256))


class RegisterAnswer(Schema):
    """The policy to obey and the coordinator's time."""

    policy = fields.Dict(keys=fields.String(), required=True)
    policy_digest = fields.String(required=True)
    now = Instant(required=True)


class Telemetry(Schema):
    """What the daemon measured of itself."""

    cpu_percent = Seconds(required=True, most=9999)
    rss_bytes = Count(required=True, most=2**63 - 1)
    running_tasks = Count(required=True, most=255)


class ServerHeartbeatRequest(Schema):
    """``POST /servers/{id}/heartbeat``."""

    boot_id = fields.UUID(required=True)
    telemetry = fields.Nested(Telemetry, required=True)


class ServerHeartbeatAnswer(Schema):
    """``drain`` asks the daemon to stop acquiring, let go of its tasks and exit."""

    drain = fields.Boolean(required=True)
    policy_digest = fields.String(required=True)
    now = Instant(required=True)


class DeregisterRequest(Schema):
    """``POST /servers/{id}/deregister``: the boot leaves; the leadership and tasks that it held are free at once."""

    boot_id = fields.UUID(required=True)
