"""How long a marketplace asks to be left alone."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from worker.connectors.seam import MAX_WAIT_SECONDS, Response

MIN_WAIT_SECONDS = 1.0

_SECONDS = re.compile(r"\d{1,18}(?:\.\d{1,18})?", re.ASCII)
_DURATION = re.compile(r"(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9}(?:\.\d{1,9})?)s)?", re.ASCII)


def retry_after_seconds(response: Response, default: float) -> float:
    """The wait in seconds that `Retry-After` demands, between `MIN_WAIT_SECONDS` and `MAX_WAIT_SECONDS`.

    RFC 9110 (section 10.2.3) knows whole seconds and an HTTP date. Seen in the wild and understood too: fractions,
    durations such as `1m0s`, and a repeated header, of which the longest wait counts. A missing or meaningless value,
    also a negative one, is taken for `default`.
    """
    value = response.headers.get("retry-after", "").strip()
    wait = _until_date(value, response)
    if wait is None:
        waits = [parsed for part in value.split(",") if (parsed := _in_words(part.strip())) is not None]
        wait = max(waits, default=default)
    return min(max(wait, MIN_WAIT_SECONDS), MAX_WAIT_SECONDS)


def _in_words(value: str) -> float | None:
    if _SECONDS.fullmatch(value):
        return float(value)
    duration = _DURATION.fullmatch(value)
    if not value or duration is None:
        return None
    hours, minutes, seconds = (float(part or 0) for part in duration.groups())
    return hours * 3600 + minutes * 60 + seconds


def _until_date(value: str, response: Response) -> float | None:
    """Seconds until an HTTP date, by the marketplace's own clock where its `Date` header tells it."""
    until = _date(value)
    if until is None:
        return None
    now = _date(response.headers.get("date", "")) or datetime.fromtimestamp(response.received_at, UTC)
    return (until - now).total_seconds()


def _date(value: str) -> datetime | None:
    try:
        parsed = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)
