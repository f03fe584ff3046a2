"""Raw values become what they say, or are refused: never a wrong number."""

from decimal import Decimal

import pytest

from worker.connectors.rest.values import DecimalFormat, to_boolean, to_decimal, to_integer, to_string

PLAIN, DOTS, COMMAS = DecimalFormat.PLAIN, DecimalFormat.DOT_GROUPED, DecimalFormat.COMMA_GROUPED


@pytest.mark.parametrize(
    ("raw", "written", "number"),
    [
        (12, PLAIN, "12"),
        (Decimal("12.50"), PLAIN, "12.50"),
        (Decimal("1E+3"), PLAIN, "1000"),
        ("12.50", PLAIN, "12.50"),
        (" 12.50 ", PLAIN, "12.50"),
        ("-3", PLAIN, "-3"),
        ("1,000.00", COMMAS, "1000.00"),
        ("1,234,567.8", COMMAS, "1234567.8"),
        ("1000.00", COMMAS, "1000.00"),
        ("12", COMMAS, "12"),
        ("1.234,56", DOTS, "1234.56"),
        ("1234,56", DOTS, "1234.56"),
        ("1.234", DOTS, "1234"),
        ("0,5", DOTS, "0.5"),
        (12, DOTS, "12"),
        (Decimal("12.5"), DOTS, "12.5"),
        (Decimal("129.99000000000001"), PLAIN, "129.9900"),
        (Decimal("0.30000000000000004"), PLAIN, "0.3000"),
        (Decimal("1.23456"), PLAIN, "1.23456"),
    ],
)
def test_reads_decimals(raw: object, written: DecimalFormat, number: str) -> None:
    assert to_decimal(raw, written) == Decimal(number)


@pytest.mark.parametrize("raw", [None, "", "   "])
@pytest.mark.parametrize("written", list(DecimalFormat))
def test_reads_no_decimal_as_none(raw: object, written: DecimalFormat) -> None:
    assert to_decimal(raw, written) is None


@pytest.mark.parametrize(
    ("raw", "written"),
    [
        ("1,000.00", PLAIN),
        ("12,50", PLAIN),
        ("1.234,56", PLAIN),
        ("1e3", PLAIN),
        ("$12", PLAIN),
        ("12 TL", PLAIN),
        ("NaN", PLAIN),
        ("Infinity", PLAIN),
        ("1_000", PLAIN),
        ("١٢", PLAIN),
        (".5", PLAIN),
        ("5.", PLAIN),
        ("12.50", DOTS),
        ("1,234.56", DOTS),
        ("1.23,4", DOTS),
        ("1.2345", DOTS),
        ("1234.567", DOTS),
        ("12,50", COMMAS),
        ("1.234,56", COMMAS),
        ("1,23.4", COMMAS),
        (True, PLAIN),
        ([], PLAIN),
        ({"amount": 1}, PLAIN),
        (Decimal("NaN"), PLAIN),
        (Decimal("Infinity"), PLAIN),
        (Decimal("1E+400"), PLAIN),
    ],
)
def test_refuses_decimals_in_doubt(raw: object, written: DecimalFormat) -> None:
    with pytest.raises(ValueError, match=r"is not a (decimal|number)"):
        to_decimal(raw, written)


@pytest.mark.parametrize(
    ("raw", "number"), [(0, 0), (-4, -4), ("7", 7), (" 7 ", 7), ("-7", -7), ("007", 7), (Decimal("5.0"), 5), ("", None)]
)
def test_reads_integers(raw: object, number: int | None) -> None:
    assert to_integer(raw) == number


@pytest.mark.parametrize(
    "raw", [True, "1.5", "1,000", Decimal("1.5"), Decimal("NaN"), Decimal("1E+99"), "x", [], "9" * 99]
)
def test_refuses_what_is_no_integer(raw: object) -> None:
    with pytest.raises(ValueError, match="is not a whole number"):
        to_integer(raw)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("0012", "0012"),
        (12, "12"),
        (10**30, "1" + "0" * 30),
        (" a ", " a "),
        ("🎁", "🎁"),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_reads_strings(raw: object, text: str | None) -> None:
    assert to_string(raw) == text


@pytest.mark.parametrize("raw", [True, Decimal("1.0"), [], {}, "half \ud83c"])
def test_refuses_what_is_no_string(raw: object) -> None:
    with pytest.raises(ValueError, match=r"is neither text|has half"):
        to_string(raw)


def test_reads_booleans() -> None:
    assert [to_boolean(raw) for raw in (True, False, None)] == [True, False, None]


@pytest.mark.parametrize("raw", [1, 0, "true", "", []])
def test_refuses_what_only_looks_like_a_boolean(raw: object) -> None:
    with pytest.raises(ValueError, match="is neither true nor false"):
        to_boolean(raw)
