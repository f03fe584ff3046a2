"""JSON is read strictly and exactly; what is not JSON is never an empty page."""

import gzip
from decimal import Decimal

import pytest

from worker.connectors.documents import MISSING, Path, decode
from worker.connectors.failures import PageUnreadable


@pytest.mark.parametrize(
    ("body", "document"),
    [
        (b"12.10", Decimal("12.10")),
        (b"0.1", Decimal("0.1")),
        (b"1234567890123456789012", 1234567890123456789012),
        (b'"007"', "007"),
        ('"🎁 Çay"'.encode(), "🎁 Çay"),
        (b'"\\ud83c\\udf81"', "🎁"),
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'{"a": "\\ud83c"}', {"a": "\ud83c"}),
        (b"[]", []),
    ],
)
def test_reads(body: bytes, document: object) -> None:
    assert decode(body) == document


def test_stays_exact_where_it_reads_leniently() -> None:
    assert decode(b"[NaN, 12.1000000000000000001]")[1] == Decimal("12.1000000000000000001")  # type: ignore[index]


def test_reads_nan_as_a_number_that_no_field_accepts() -> None:
    assert [number.is_finite() for number in decode(b"[NaN, -Infinity]")] == [False, False]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html></html>",
        b'{"a": [1, 2',
        b'{"a": 1} trailing',
        '{"a": "é"}'.encode("latin-1"),
        '{"a": 1}'.encode("utf-16"),
        gzip.compress(b'{"a": 1}'),
        b"[" * 200_000,
        b"[NaN," + b"[" * 200_000,
        b"9" * 10_000,
    ],
    ids=[
        "empty",
        "html",
        "truncated",
        "trailing",
        "latin-1",
        "utf-16",
        "gzip",
        "deep",
        "deep and lenient",
        "huge number",
    ],
)
def test_refuses(body: bytes) -> None:
    with pytest.raises(PageUnreadable):
        decode(body)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": [{"c": 1}, None], "0": "key"}),
        ("a.b.0.c", 1),
        ("a.b.1", None),
        ("a.0", "key"),
        ("a.b.2", MISSING),
        ("a.b.-1", MISSING),
        ("a.b.x", MISSING),
        ("a.b.0.c.d", MISSING),
        ("z", MISSING),
        ("", {"a": {"b": [{"c": 1}, None], "0": "key"}}),
    ],
)
def test_finds_by_path(path: str, value: object) -> None:
    assert Path(path).find({"a": {"b": [{"c": 1}, None], "0": "key"}}) == value
