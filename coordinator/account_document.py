"""The document of an import: marketplaces, partners and accounts, as an operator writes them down.

``{"marketplaces": [{"code", "name", "quota_per_server", "yields"}],
"partners": [{"code", "name"}],
"accounts": [{"partner", "marketplace", "account_ref", "settings", "credentials", "refresh_interval_seconds"}]}``

Every list may be left out, and so may every member but codes, partner, marketplace and account_ref: what is stored
stays, what is new gets its default. A partner that only accounts name is made with its code as its name.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import msgspec
from marshmallow import Schema, ValidationError, fields, post_load, validate

from shared.problems import InvalidInput
from shared.wire.fields import Count, MarketplaceCode, Name

MAX_SETTINGS_BYTES = 16 * 1024
# Sealed, they still fit their column.
MAX_CREDENTIALS_BYTES = 16_000
YEAR_SECONDS = 31_536_000
_MAX_NAMED = 50


@dataclass(frozen=True)
class Marketplace:
    """A marketplace of the document; None stands for what was left out."""

    code: str
    name: str | None = None
    quota_per_server: Decimal | None = None
    yields: bool | None = None


@dataclass(frozen=True)
class Partner:
    """A partner of the document."""

    code: str
    name: str | None = None


@dataclass(frozen=True)
class Account:
    """An account of the document; ``partner`` and ``marketplace`` are codes."""

    partner: str
    marketplace: str
    account_ref: str
    settings: Mapping[str, Any] | None = None
    credentials: Mapping[str, str] | None = field(default=None, repr=False)
    refresh_interval_seconds: int | None = None


@dataclass(frozen=True)
class Document:
    """All that one import names, nothing of it twice."""

    marketplaces: Sequence[Marketplace]
    partners: Sequence[Partner]
    accounts: Sequence[Account]


def read(document: Mapping[str, Any]) -> Document:
    """The document, wholly checked. Raises ``InvalidInput`` that names every member which cannot be taken."""
    try:
        loaded: Document = _Document().load(document)
    except ValidationError as error:
        raise refused(dict(_flattened(error.messages, ""))) from error
    _require_once("marketplaces", [entry.code for entry in loaded.marketplaces])
    _require_once("partners", [entry.code for entry in loaded.partners])
    _require_once("accounts", [(entry.partner, entry.marketplace, entry.account_ref) for entry in loaded.accounts])
    return loaded


def refused(errors: Mapping[str, str]) -> InvalidInput:
    """The problem of a document whose members cannot be taken, each named with what is wrong."""
    named = dict(list(errors.items())[:_MAX_NAMED])
    return InvalidInput("; ".join(f"{name}: {wrong}" for name, wrong in named.items()), errors=named)


class _Text(fields.String):
    """Text that the database can hold: of bounded length, without halves of surrogate pairs."""

    def __init__(self, longest: int, **options: Any) -> None:
        super().__init__(validate=[validate.Length(min=1, max=longest), _Fits(MAX_SETTINGS_BYTES)], **options)


class _Fits(validate.Validator):
    """Takes what JSON in UTF-8 can hold within so many bytes."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes

    def __call__(self, value: Any) -> Any:
        try:
            encoded = msgspec.json.encode(value)
        except (UnicodeEncodeError, TypeError, ValueError, RecursionError) as error:
            raise ValidationError("holds something that JSON in UTF-8 cannot") from error
        if len(encoded) > self.most_bytes:
            raise ValidationError(f"must take at most {self.most_bytes} bytes")
        return value


def _two_decimals(value: Decimal) -> None:
    if value != round(value, 2):
        raise ValidationError("must have at most two decimals")


class _Marketplace(Schema):
    code = MarketplaceCode(required=True)
    name = _Text(255)
    quota_per_server = fields.Decimal(validate=[validate.Range(Decimal("0.01"), Decimal("99.99")), _two_decimals])
    yields = fields.Boolean(truthy={True}, falsy={False})

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Marketplace:
        return Marketplace(**data)


class _Partner(Schema):
    code = Name(required=True)
    name = _Text(255)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Partner:
        return Partner(**data)


class _Account(Schema):
    partner = Name(required=True)
    marketplace = MarketplaceCode(required=True)
    account_ref = _Text(128, required=True)
    settings = fields.Dict(keys=fields.String(), validate=_Fits(MAX_SETTINGS_BYTES))
    credentials = fields.Dict(keys=fields.String(), values=_Text(8192), validate=_Fits(MAX_CREDENTIALS_BYTES))
    refresh_interval_seconds = Count(least=1, most=YEAR_SECONDS)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Account:
        return Account(**data)


class _Document(Schema):
    marketplaces = fields.List(fields.Nested(_Marketplace), load_default=list)
    partners = fields.List(fields.Nested(_Partner), load_default=list)
    accounts = fields.List(fields.Nested(_Account), load_default=list)

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Document:
        return Document(**data)


def _require_once(name: str, keys: Sequence[Any]) -> None:
    twice = {key for key, count in Counter(keys).items() if count > 1}
    if twice:
        raise refused({f"{name}.{n}": f"{key} is named twice" for n, key in enumerate(keys) if key in twice})


def _flattened(messages: Any, path: str) -> Iterable[tuple[str, str]]:
    """``("accounts.3.account_ref", "Missing data…")`` for each message, however deep."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _flattened(inner, path if name == "_schema" else f"{path}.{name}".lstrip("."))
    else:
        yield path or "document", " ".join(map(str, messages))
