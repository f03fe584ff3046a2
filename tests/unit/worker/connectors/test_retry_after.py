"""Every form of Retry-After ends as a sane, bounded wait."""

import math
from email.utils import formatdate

import pytest

from tests.unit.worker.connectors.example import NOW, response
from worker.connectors.rest.retry_after import MIN_WAIT_SECONDS, retry_after_seconds
from worker.connectors.seam import MAX_WAIT_SECONDS

DEFAULT = 17.0


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("30", 30.0),
        (" 30 ", 30.0),
        ("0", MIN_WAIT_SECONDS),
        ("0.2", MIN_WAIT_SECONDS),
        ("1.5", 1.5),
        ("-5", DEFAULT),
        ("-0", DEFAULT),
        ("1m0s", 60.0),
        ("1h1m1.5s", MAX_WAIT_SECONDS),
        ("90s", 90.0),
        ("30,120", 120.0),
        ("120, 30", 120.0),
        ("30, soon", 30.0),
        ("99999999999", MAX_WAIT_SECONDS),
        ("9" * 400, DEFAULT),
        ("1e9", DEFAULT),
        ("inf", DEFAULT),
        ("nan", DEFAULT),
        ("٣٠", DEFAULT),
        ("soon", DEFAULT),
        ("", DEFAULT),
        (",", DEFAULT),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), MIN_WAIT_SECONDS),
        (formatdate(NOW + 10**7, usegmt=True), MAX_WAIT_SECONDS),
        ("Wed, 21 Oct 99999 07:28:00 GMT", DEFAULT),
        ("Wed, 21 Oct 2015 999999999999999999999:28:00 GMT", DEFAULT),
        ("Wed, 21 Oct 2015 07:28:00 +99999999999999999999", DEFAULT),
        ("Wed, 99 Oct 2015 07:28:00 GMT", DEFAULT),
    ],
)
def test_waits(value: str, wait: float) -> None:
    waited = retry_after_seconds(response("", 429, retry_after=value), DEFAULT)

    assert waited == pytest.approx(wait)
    assert math.isfinite(waited)


def test_waits_the_default_without_the_header() -> None:
    assert retry_after_seconds(response("", 429), DEFAULT) == DEFAULT


@pytest.mark.parametrize(("default", "wait"), [(0.0, MIN_WAIT_SECONDS), (86_400.0, MAX_WAIT_SECONDS)])
def test_bounds_the_default_too(default: float, wait: float) -> None:
    assert retry_after_seconds(response("", 429), default) == wait


def test_reckons_a_date_by_the_marketplaces_own_clock() -> None:
    skewed = NOW + 5_000
    headers = {"retry_after": formatdate(skewed + 40, usegmt=True), "date": formatdate(skewed, usegmt=True)}

    assert retry_after_seconds(response("", 429, **headers), DEFAULT) == pytest.approx(40.0)
