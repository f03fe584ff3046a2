"""MySQL against the marketplaces, record by record, with no more than a few hundred of them in memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import msgspec
import pymysql
from pymysql.cursors import DictCursor

from deploy.cluster.interruption import Pause
from shared.listing import Listing

Catalogue = Callable[[str, str], Iterator[Listing]]
"""What an account must hold, by marketplace code and account reference: for instance ``Sandbox.catalogue``."""

CHUNK = 500
MAX_EXAMPLES = 5
_ACCOUNTS = """
SELECT account_id, marketplace_code, account_ref FROM accounts ORDER BY account_id
"""
_STORED = """
SELECT listing_ref, parent_ref, title, title_cut, sku, barcode, price, list_price, currency, quantity, status,
       attributes
FROM listings WHERE account_id = %s AND listing_ref IN %s
"""
_COUNT = "SELECT COUNT(*) AS listings FROM listings WHERE account_id = %s"
_DUPLICATES = """
SELECT COUNT(*) - COUNT(DISTINCT account_id, listing_ref) AS duplicates, COUNT(*) AS listings FROM listings
"""


class Account(NamedTuple):
    """An account as the database knows it."""

    account_id: int
    marketplace_code: str
    account_ref: str


@dataclass
class Comparison:
    """How many listings there are on both sides, and where the sides differ; some examples in words."""

    expected: int = 0
    stored: int = 0
    missing: int = 0
    unexpected: int = 0
    different: int = 0
    duplicates: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def matches(self) -> bool:
        """Whether every listing is stored exactly as the marketplace shows it, and no other is."""
        return (self.expected, 0, 0, 0, 0) == (
            self.stored,
            self.missing,
            self.unexpected,
            self.different,
            self.duplicates,
        )

    def tell(self, account: Account, listing_ref: str, what: str) -> None:
        """Keep an example, if there are not enough of them."""
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(f"{account.marketplace_code} {account.account_ref} {listing_ref}: {what}")


def compare(connection: "pymysql.Connection[DictCursor]", catalogue: Catalogue, pause: Pause) -> Comparison:
    """Compare all accounts; ``pause`` is asked now and then whether to go on."""
    found = Comparison()
    for account in _accounts(connection):
        matched = 0
        shown = catalogue(account.marketplace_code, account.account_ref)
        while chunk := list(islice(shown, CHUNK)):
            matched += _compare_chunk(connection, account, chunk, found)
            pause(0)
        found.unexpected += _number(connection, _COUNT, account.account_id)["listings"] - matched
    counts = _number(connection, _DUPLICATES)
    found.stored, found.duplicates = counts["listings"], counts["duplicates"]
    return found


def _accounts(connection: "pymysql.Connection[DictCursor]") -> Iterator[Account]:
    return (Account(**row) for row in _rows(connection, _ACCOUNTS))


def _compare_chunk(
    connection: "pymysql.Connection[DictCursor]", account: Account, chunk: Sequence[Listing], found: Comparison
) -> int:
    """How many of a chunk of the catalogue are stored, rightly or not."""
    refs = [listing.listing_ref for listing in chunk]
    stored = {row["listing_ref"]: _listing(row) for row in _rows(connection, _STORED, account.account_id, refs)}
    for expected in chunk:
        there = stored.get(expected.listing_ref)
        if there is None:
            found.missing += 1
            found.tell(account, expected.listing_ref, "is missing")
        elif there != expected:
            found.different += 1
            found.tell(account, expected.listing_ref, _difference(there, expected))
    found.expected += len(chunk)
    return len(stored)


def _listing(row: Mapping[str, Any]) -> Listing:
    attributes = msgspec.json.decode(row["attributes"])
    return msgspec.convert({**row, "title_cut": bool(row["title_cut"]), "attributes": attributes}, Listing)


def _difference(stored: Listing, expected: Listing) -> str:
    name = next(name for name in Listing.__struct_fields__ if getattr(stored, name) != getattr(expected, name))
    return f"{name} is {getattr(stored, name)!r}, the marketplace says {getattr(expected, name)!r}"


def _number(connection: "pymysql.Connection[DictCursor]", query: str, *parameters: object) -> dict[str, int]:
    return next(iter(_rows(connection, query, *parameters)))


def _rows(connection: "pymysql.Connection[DictCursor]", query: str, *parameters: object) -> Iterable[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(query, parameters)
        return cursor.fetchall()
