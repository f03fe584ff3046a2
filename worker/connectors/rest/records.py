"""From a raw record to a listing, field by field."""

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from shared.listing import MAX_TITLE_CHARACTERS, Listing, Reject
from shared.states import ListingStatus
from worker.connectors.documents import MISSING, Path
from worker.connectors.rest.values import CONVERSIONS, DecimalFormat, Value, ValueType, to_decimal

MAX_REF_CHARACTERS = 191
MAX_DETAIL_CHARACTERS = 512


class FieldUnreadable(Exception):  # noqa: N818 - it says what is wrong, and becomes a reject's reason
    """A field of a record cannot be read; `reason` is the reject's stable word."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Field:
    """Where a value stands in a record, and how it is read; without a path it is the same `constant` everywhere."""

    name: str
    path: Path | None
    value_type: ValueType = ValueType.STRING
    decimal_format: DecimalFormat = DecimalFormat.PLAIN
    constant: Value = None
    is_attribute: bool = False

    def read(self, record: Mapping[str, object]) -> Value:
        """The field's value, None where the record has none. Raises `FieldUnreadable`."""
        if self.path is None:
            return self.constant
        raw = self.path.find(record)
        if raw is MISSING:
            return None
        try:
            if self.value_type is ValueType.DECIMAL:
                return to_decimal(raw, self.decimal_format)
            return CONVERSIONS[self.value_type](raw)
        except ValueError as error:
            what = "attribute" if self.is_attribute else self.name
            raise FieldUnreadable(f"{what}_unreadable", f"{self.path.text} {error}: {_shown(raw)}") from error


@dataclass(frozen=True, slots=True)
class StatusField:
    """A field that says whether a listing is offered: true, or one of the words in `active`."""

    field: Field
    active: frozenset[str] | None = None

    def read(self, record: Mapping[str, object]) -> ListingStatus:
        """The status. Raises `FieldUnreadable`, also for a record that has none."""
        value = self.field.read(record)
        if value is None:
            raise FieldUnreadable("status_missing", "the record does not say whether it is offered")
        offered = value in self.active if self.active is not None else value is True
        return ListingStatus.ACTIVE if offered else ListingStatus.INACTIVE


@dataclass(frozen=True, slots=True)
class RecordMap:
    """A marketplace's field map: the listing's fields by their names, and further attributes by theirs."""

    fields: tuple[Field, ...]
    status: StatusField | None = None
    attributes: tuple[Field, ...] = ()

    def normalize(self, raw: object) -> Listing | Reject:
        """The record as a listing, or why it cannot be one, with its identity where that could be read."""
        if not isinstance(raw, dict):
            return Reject(reason="record_not_an_object", detail=_shown(raw))
        values: dict[str, object] = {}
        try:
            self._read(raw, values)
            return msgspec.convert(values, Listing)
        except FieldUnreadable as error:
            return _reject(error.reason, error.detail, values)
        except msgspec.ValidationError as error:
            return _reject("listing_invalid", str(error), values)

    def _read(self, raw: dict[str, object], values: dict[str, object]) -> None:
        for field in self.fields:
            values[field.name] = field.read(raw)
        if values.get("listing_ref") is None:
            raise FieldUnreadable("listing_ref_missing", "the record has no identity")
        title = str(values.get("title") or "")
        values["title"] = title[:MAX_TITLE_CHARACTERS]
        values["title_cut"] = len(title) > MAX_TITLE_CHARACTERS
        if isinstance(currency := values.get("currency"), str):
            values["currency"] = currency.strip().upper()
        if self.status is not None:
            values["status"] = self.status.read(raw)
        values["attributes"] = {field.name: _attribute(field.read(raw)) for field in self.attributes}


def _attribute(value: Value) -> str | int | bool | None:
    """Attributes are JSON: a decimal is kept exactly, as text."""
    return f"{value:f}" if not isinstance(value, str | int | bool | None) else value


def _reject(reason: str, detail: str, values: Mapping[str, object]) -> Reject:
    ref = values.get("listing_ref")
    named = isinstance(ref, str) and len(ref) <= MAX_REF_CHARACTERS
    return Reject(reason=reason, detail=_printable(detail), record_ref=str(ref) if named else None)


def _shown(raw: object) -> str:
    """A raw value for a reject's detail, short whatever its size."""
    return _printable(reprlib.repr(raw)[:200])


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:MAX_DETAIL_CHARACTERS]
