"""Raw JSON values as text, numbers and truth; whatever is doubtful is refused, never guessed at."""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from enum import StrEnum

from shared.listing import PRICE_DECIMALS

Value = str | Decimal | int | bool | None


class ValueType(StrEnum):
    """How a description reads a raw value."""

    STRING = "string"
    DECIMAL = "decimal"
    INTEGER = "integer"
    BOOLEAN = "boolean"


class DecimalFormat(StrEnum):
    """How a marketplace writes decimals in text; groups of thousands may be left out."""

    PLAIN = "1234.56"
    DOT_GROUPED = "1.234,56"
    COMMA_GROUPED = "1,234.56"


_SHAPES: Mapping[DecimalFormat, tuple[re.Pattern[str], str, str]] = {
    DecimalFormat.PLAIN: (re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII), "", "."),
    DecimalFormat.DOT_GROUPED: (re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?", re.ASCII), ".", ","),
    DecimalFormat.COMMA_GROUPED: (re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", re.ASCII), ",", "."),
}
_INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_STEP = Decimal(1).scaleb(-PRICE_DECIMALS)
_NOISE = Decimal("0.000001")
_LARGEST_EXPONENT = 20


def to_string(raw: object) -> str | None:
    """Text as it is, whole numbers in their digits; null and blank text are None.

    Raises `ValueError` for anything else: a fraction, truth or structure is no name.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    if isinstance(raw, bool) or not isinstance(raw, str | int):
        raise ValueError("is neither text nor a whole number")
    text = str(raw)
    if not text.isascii():
        _refuse_surrogates(text)
    return text


def to_integer(raw: object) -> int | None:
    """A whole number, also when written as text or as 5.0; null and blank text are None. Raises `ValueError`."""
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if isinstance(raw, Decimal) and raw.is_finite() and abs(raw.adjusted()) < 18 and raw == raw.to_integral_value():
        return int(raw)
    if isinstance(raw, str) and _INTEGER.fullmatch(raw.strip()):
        return int(raw)
    raise ValueError("is not a whole number")


def to_boolean(raw: object) -> bool | None:
    """JSON's true and false; null is None. Raises `ValueError` for the words and numbers that look like them."""
    if raw is None or isinstance(raw, bool):
        return raw
    raise ValueError("is neither true nor false")


def to_decimal(raw: object, written: DecimalFormat) -> Decimal | None:
    """A decimal, from a JSON number or from text in the declared format; null and blank text are None.

    A JSON number that misses four decimals by a floating-point error of less than a millionth is rounded.
    Raises `ValueError` for every other format, for `12,50` where a dot is declared above all.
    """
    if raw is None or (isinstance(raw, str) and not raw.strip()):
        return None
    if isinstance(raw, int) and not isinstance(raw, bool):
        return Decimal(raw)
    if isinstance(raw, Decimal):
        return _without_noise(raw)
    if isinstance(raw, str):
        shape, grouping, point = _SHAPES[written]
        text = raw.strip()
        if shape.fullmatch(text):
            return Decimal((text.replace(grouping, "") if grouping else text).replace(point, "."))
    raise ValueError(f"is not a decimal written like {written}")


def _without_noise(number: Decimal) -> Decimal:
    if not number.is_finite() or number.adjusted() > _LARGEST_EXPONENT:
        raise ValueError("is not a number of sane size")
    rounded = number.quantize(_STEP)
    return rounded if rounded != number and abs(rounded - number) < _NOISE else number


def _refuse_surrogates(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("has half of a surrogate pair") from error


CONVERSIONS: Mapping[ValueType, Callable[[object], Value]] = {
    ValueType.STRING: to_string,
    ValueType.INTEGER: to_integer,
    ValueType.BOOLEAN: to_boolean,
}
"""How each type but the decimal, which needs its format, is read."""
