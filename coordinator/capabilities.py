"""Capabilities: which marketplaces a server's current boot registered that it can crawl, and whose cursors it speaks.

Acquire looks at nothing else. A slot's foreign key keeps the capability that it is used under.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from coordinator.database import Transaction
from shared.problems import InvalidInput


@dataclass(frozen=True)
class Capability:
    """A marketplace, and the cursor format (connector and version) in which the boot resumes its crawls."""

    marketplace_code: str
    cursor_format: str


def require_known(tx: Transaction, capabilities: Iterable[Capability]) -> None:
    """Raise ``InvalidInput`` that names every marketplace which does not exist or is named twice."""
    codes = [capability.marketplace_code for capability in capabilities]
    if not codes:
        return
    known = {row["marketplace_code"] for row in tx.all("marketplace_list_known", marketplace_codes=sorted(set(codes)))}
    errors = {}
    for position, code in enumerate(codes):
        field = f"marketplaces.{position}.marketplace_code"
        if code not in known:
            errors[field] = f"there is no marketplace {code}: import it first, or leave it out"
        elif code in codes[:position]:
            errors[field] = f"{code} is named twice: name it once"
    if errors:
        raise InvalidInput("; ".join(f"{field}: {wrong}" for field, wrong in errors.items()), errors=errors)


def grant(tx: Transaction, server_id: str, capabilities: Iterable[Capability]) -> None:
    """Lock what a server can do, and add and correct what it now says it can; the caller holds the server's row."""
    stored = {row["marketplace_code"]: row["cursor_format"] for row in tx.all("capability_lock", server_id=server_id)}
    news = {c.marketplace_code: c.cursor_format for c in capabilities}
    rows = [
        {"marketplace_code": code, "cursor_format": news[code]}
        for code in sorted(news)
        if stored.get(code) != news[code]
    ]
    tx.many("capability_write", rows, server_id=server_id)


def withdraw(tx: Transaction, server_id: str, capabilities: Iterable[Capability]) -> None:
    """Remove what a server no longer says it can do, after ``grant``; what it still runs there keeps its capability."""
    kept = {c.marketplace_code for c in capabilities}
    kept |= {row["marketplace_code"] for row in tx.all("slot_list", server_id=server_id) if row["marketplace_code"]}
    stored = {row["marketplace_code"] for row in tx.all("capability_lock", server_id=server_id)}
    if gone := sorted(stored - kept):
        tx.execute("capability_delete", server_id=server_id, marketplace_codes=gone)
