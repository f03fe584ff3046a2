"""JSON answers: read strictly, with exact numbers, and looked into by paths."""

import json
from decimal import Decimal

import msgspec

from worker.connectors.failures import PageUnreadable

_DECODER = msgspec.json.Decoder(float_hook=Decimal)


def decode(body: bytes) -> object:
    """The JSON document in a body (RFC 8259, so UTF-8); fractions become `Decimal`, exactly as written.

    Raises `PageUnreadable` for everything else: HTML, truncated text, other encodings, absurd nesting.
    """
    try:
        return _DECODER.decode(body)
    except msgspec.DecodeError:
        return _decode_leniently(body)
    except RecursionError as error:
        raise PageUnreadable("The answer's JSON is nested too deeply") from error


def _decode_leniently(body: bytes) -> object:
    """Accept NaN and lone surrogates, so that one bad value costs its record and not the whole page."""
    try:
        return json.loads(body.decode("utf-8-sig"), parse_float=Decimal, parse_constant=Decimal)
    except (ValueError, RecursionError) as error:
        raise PageUnreadable(f"The answer is not JSON ({len(body)} bytes): {error}") from error


class Missing:
    """The type of `MISSING`, which a path yields where a document has nothing; JSON's null is None instead."""

    def __bool__(self) -> bool:
        return False


MISSING = Missing()


class Path:
    """Where a value stands in a document: keys joined by dots; digits index lists (`variants.0.price`).

    The empty path is the document itself.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._segments = tuple(text.split(".")) if text else ()

    def find(self, document: object) -> object:
        """The value, or `MISSING`."""
        value = document
        for segment in self._segments:
            if isinstance(value, dict):
                value = value.get(segment, MISSING)
            elif isinstance(value, list) and segment.isdecimal() and int(segment) < len(value):
                value = value[int(segment)]
            else:
                return MISSING
        return value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Path({self.text!r})"
