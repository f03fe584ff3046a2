"""Who speaks: a boot of a server, as itself, as leader or as a task's owner."""

from marshmallow import Schema, fields

from shared.wire.fields import FencingToken, Name


class Boot(Schema):
    """One start of a server's daemon."""

    server_id = Name(required=True)
    boot_id = fields.UUID(required=True)


class Fenced(Boot):
    """A boot that claims a term (leadership) or an acquisition (task), known by its fencing token."""

    fencing_token = FencingToken(required=True)
