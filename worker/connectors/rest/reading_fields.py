"""The `[fields]` and `[attributes]` tables of a description."""

from worker.connectors.documents import Path
from worker.connectors.rest.records import Field, RecordMap, StatusField
from worker.connectors.rest.tables import Table
from worker.connectors.rest.values import DecimalFormat, ValueType

_TYPES = {
    "listing_ref": ValueType.STRING,
    "parent_ref": ValueType.STRING,
    "title": ValueType.STRING,
    "sku": ValueType.STRING,
    "barcode": ValueType.STRING,
    "price": ValueType.DECIMAL,
    "list_price": ValueType.DECIMAL,
    "currency": ValueType.STRING,
    "quantity": ValueType.INTEGER,
}
_DECIMAL_FORMATS = {str(written): written for written in DecimalFormat}
_VALUE_TYPES = {str(value_type): value_type for value_type in ValueType}
_MAX_ATTRIBUTE_NAME = 128


def read_records(top: Table) -> RecordMap:
    """The field map: each listing field by name (its type follows from it), and the attributes with their types."""
    table = top.table("fields", required=True)
    if not table.has("listing_ref"):
        table.refuse("listing_ref", "is missing: a listing needs the marketplace's identity of it")
    fields = tuple(_field(table, name, value_type) for name, value_type in _TYPES.items() if table.has(name))
    status = _status(table) if table.has("status") else None
    table.known |= {*_TYPES, "status"}
    table.end()
    attributes = top.table("attributes")
    return RecordMap(fields, status, tuple(_attribute(attributes, name) for name in attributes.content))


def _field(table: Table, name: str, value_type: ValueType) -> Field:
    """A field is `{ path = "…" }`, prices also with `format`; text may be `{ value = "…" }`, the same everywhere."""
    entry = table.table(name)
    if value_type is ValueType.STRING and entry.has("value"):
        field = Field(name, None, constant=entry.text("value"))
    else:
        field = Field(name, _path(entry), value_type, _decimal_format(entry, value_type))
    entry.end()
    return field


def _status(table: Table) -> StatusField:
    """`{ path = "…" }` is true for an offered listing; with `active` it is one of those words then."""
    entry = table.table("status")
    if not entry.has("active"):
        status = StatusField(Field("status", _path(entry), ValueType.BOOLEAN))
    else:
        status = StatusField(Field("status", _path(entry), ValueType.STRING), _words(entry, "active"))
    entry.end()
    return status


def _attribute(table: Table, name: str) -> Field:
    """An attribute is `{ path = "…", type = "…" }`, a decimal also with `format`."""
    if not 1 <= len(name) <= _MAX_ATTRIBUTE_NAME:
        table.refuse(name, f"must have a name of 1 to {_MAX_ATTRIBUTE_NAME} characters")
    entry = table.table(name)
    value_type = entry.choice("type", _VALUE_TYPES, ValueType.STRING, required=True)
    field = Field(name, _path(entry), value_type, _decimal_format(entry, value_type), is_attribute=True)
    entry.end()
    return field


def _path(entry: Table) -> Path:
    return Path(entry.text("path", required=True))


def _decimal_format(entry: Table, value_type: ValueType) -> DecimalFormat:
    if value_type is not ValueType.DECIMAL:
        return DecimalFormat.PLAIN
    return entry.choice("format", _DECIMAL_FORMATS, DecimalFormat.PLAIN)


def _words(entry: Table, name: str) -> frozenset[str]:
    entry.known.add(name)
    words = entry.content.get(name)
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        entry.refuse(name, "must be a list of the words that mean an offered listing")
        return frozenset()
    return frozenset(words)
