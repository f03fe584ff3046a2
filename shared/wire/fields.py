"""Fields that several envelopes share, with their bounds."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from marshmallow import ValidationError, fields, validate

from shared.listing import MAX_CURSOR_BYTES

NAME_PATTERN = r"[a-z0-9][a-z0-9._-]*\Z"
NOT_AN_INSTANT = "must be an instant like 2026-01-31T12:00:00.000000Z"
MAX_COUNT = 2**31 - 1
MAX_TOKEN = 2**63 - 1


def _name(longest: int) -> validate.Validator:
    return validate.And(
        validate.Length(min=1, max=longest),
        validate.Regexp(NAME_PATTERN, error="must be lower-case letters, digits, '.', '_' or '-'"),
    )


class Name(fields.String):
    """A server_id or key_id: lower-case letters, digits, dots, underscores, hyphens; at most 64."""

    def __init__(self, *, longest: int = 64, **options: Any) -> None:
        super().__init__(validate=_name(longest), **options)


class MarketplaceCode(Name):
    """A marketplace's code: like a name, at most 32 characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(longest=32, **options)


class Count(fields.Integer):
    """A number of things: a JSON integer from 0 (or ``least``) to 2^31 - 1."""

    def __init__(self, *, least: int = 0, most: int = MAX_COUNT, **options: Any) -> None:
        super().__init__(strict=True, validate=validate.Range(min=least, max=most), **options)

    def _validated(self, value: Any) -> int:
        if isinstance(value, str | bool):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class FencingToken(Count):
    """A fencing token: a JSON integer from 1 to 2^63 - 1."""

    def __init__(self, **options: Any) -> None:
        super().__init__(least=1, most=MAX_TOKEN, **options)


class RowId(FencingToken):
    """A database row's number: a JSON integer from 1 to 2^63 - 1."""


class Seconds(fields.Float):
    """A duration in seconds: a finite JSON number that is not negative, at most ``most`` (ten years)."""

    def __init__(self, *, most: float = 315_360_000, **options: Any) -> None:
        super().__init__(validate=validate.Range(min=0, max=most), allow_nan=False, **options)

    def _validated(self, value: Any) -> float:
        if isinstance(value, str | bool):
            raise self.make_error("invalid", input=value)
        return super()._validated(value)


class Instant(fields.Field[datetime]):
    """An instant: RFC 3339 in UTC with microseconds on the wire, a naive UTC datetime in Python."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return None if value is None else value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> datetime:
        if not isinstance(value, str) or not value.endswith("Z"):
            raise ValidationError(NOT_AN_INSTANT)
        try:
            return datetime.fromisoformat(value).astimezone(UTC).replace(tzinfo=None)
        except ValueError as error:
            raise ValidationError(NOT_AN_INSTANT) from error


class CursorToken(fields.String):
    """A connector's opaque cursor, at most 4 KiB in UTF-8."""

    def __init__(self, **options: Any) -> None:
        super().__init__(validate=_cursor_fits, allow_none=True, **options)


def _cursor_fits(token: str | None) -> None:
    if token is not None and len(token.encode("utf-8", "replace")) > MAX_CURSOR_BYTES:
        raise ValidationError(f"must take at most {MAX_CURSOR_BYTES} bytes")
