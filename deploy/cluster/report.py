"""The result of a quickstart, as JSON for programs."""

from pathlib import Path

import msgspec
import pymysql
from pymysql.cursors import DictCursor

STALE_CODES = frozenset(
    {"stale_task_owner", "stale_fencing_token", "lease_expired", "boot_superseded", "stale_request", "task_stalled"}
)
_CRAWLED = "SELECT COUNT(*) AS number FROM accounts WHERE crawl_no > 0"
_ELECTIONS = "SELECT COUNT(*) AS number FROM leadership_terms"
_REASSIGNMENTS = "SELECT COUNT(*) AS number FROM task_events WHERE kind IN ('expired', 'requeued')"


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What was crawled and whether it is right, and what happened on the way.

    ``seconds`` counts from the start of the servers to the end of the last crawl, ``rows_per_second`` is stored
    listings over it. ``reassignments`` are tasks taken from servers that vanished, ``stale_rejections`` requests that
    were refused because somebody else had the task or the leadership by then.
    """

    accounts: int
    accounts_crawled: int
    listings_expected: int
    listings_stored: int
    missing: int
    unexpected: int
    different: int
    duplicates: int
    elections: int
    reassignments: int
    stale_rejections: int
    seconds: float
    rows_per_second: float
    peak_worker_rss_mb: float
    coordinator_url: str

    def write(self, file: Path) -> None:
        """Write it as one indented JSON object. Raises ``OSError``."""
        file.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def accounts_crawled(connection: "pymysql.Connection[DictCursor]") -> int:
    """How many accounts have been crawled to their end."""
    return _number(connection, _CRAWLED)


def elections(connection: "pymysql.Connection[DictCursor]") -> int:
    """How many terms there were."""
    return _number(connection, _ELECTIONS)


def reassignments(connection: "pymysql.Connection[DictCursor]") -> int:
    """How many times a task was taken from an owner that had vanished."""
    return _number(connection, _REASSIGNMENTS)


def stale_rejections(coordinator_log: Path) -> int:
    """How many requests of former owners and leaders the coordinator logged as refused."""
    with coordinator_log.open("rb") as lines:
        return sum(_is_stale(line) for line in lines)


def _is_stale(line: bytes) -> bool:
    if b'"code"' not in line:
        return False
    try:
        return msgspec.json.decode(line, type=dict[str, object]).get("code") in STALE_CODES
    except msgspec.DecodeError:
        return False


def _number(connection: "pymysql.Connection[DictCursor]", query: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return int((cursor.fetchone() or {})["number"])
