"""Importing accounts: a document is checked wholly, then written in one transaction. A repeat changes nothing.

Credentials that differ from the stored ones replace them, also where a worker has rotated them since: leave them out
of a document that is imported for something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import msgspec

from coordinator import account_document, audit, credentials
from coordinator.account_document import Account, Document, Marketplace, Partner
from coordinator.audit import Actor
from coordinator.database import Row, Transaction
from coordinator.vault import Vault, VaultError

DEFAULT_REFRESH_INTERVAL_SECONDS = 86_400


@dataclass(frozen=True)
class Imported:
    """What an import did to accounts."""

    created: int
    changed: int
    unchanged: int


def run(tx: Transaction, vault: Vault, document: Mapping[str, Any], actor: Actor) -> Imported:
    """Create what is missing and change what differs; new accounts are due at once.

    A suspended account whose credentials change may be crawled again. Each change is audited. Raises ``InvalidInput``
    naming every member that cannot be taken; nothing is written then.
    """
    checked = account_document.read(document)
    stored = {row["marketplace_code"]: row for row in tx.all("marketplace_list")}
    _require_marketplaces(checked, set(stored))
    for marketplace in sorted(checked.marketplaces, key=lambda entry: entry.code):
        _write_marketplace(tx, stored.get(marketplace.code), marketplace, actor)
    partner_ids = _write_partners(tx, checked, actor)
    done = [
        _write_account(tx, vault, partner_ids[account.partner], account, actor)
        for account in sorted(checked.accounts, key=lambda entry: (entry.partner, entry.marketplace, entry.account_ref))
    ]
    return Imported(done.count("created"), done.count("changed"), done.count("unchanged"))


def _require_marketplaces(document: Document, stored: set[str]) -> None:
    known = stored | {marketplace.code for marketplace in document.marketplaces}
    errors = {
        f"accounts.{position}.marketplace": f"there is no marketplace {account.marketplace}: list it in marketplaces"
        for position, account in enumerate(document.accounts)
        if account.marketplace not in known
    }
    if errors:
        raise account_document.refused(errors)


def _write_marketplace(tx: Transaction, stored: Row | None, marketplace: Marketplace, actor: Actor) -> None:
    named = {"name": marketplace.name, "quota_per_server": marketplace.quota_per_server, "yields": marketplace.yields}
    before = stored or {"name": marketplace.code, "quota_per_server": Decimal(1), "yields": True}
    after = {name: before[name] if value is None else value for name, value in named.items()}
    changed = {name: value for name, value in after.items() if value != before[name]}
    if stored and not changed:
        return
    tx.execute("marketplace_write", marketplace_code=marketplace.code, **after)
    audit.record(tx, actor, "marketplace.import", f"marketplace:{marketplace.code}", changed if stored else after)


def _write_partners(tx: Transaction, document: Document, actor: Actor) -> dict[str, int]:
    """The number of each partner that the document names, made or renamed where need be."""
    named = {account.partner: Partner(account.partner) for account in document.accounts}
    named |= {partner.code: partner for partner in document.partners}
    stored = _partners(tx, sorted(named))
    now = tx.now()
    for code, partner in sorted(named.items()):
        known = stored.get(code)
        if known and partner.name in (None, known["name"]):
            continue
        tx.execute("partner_write", partner_code=code, name=partner.name or code, now=now)
        audit.record(tx, actor, "partner.import", f"partner:{code}", {"name": partner.name or code})
    return {code: row["partner_id"] for code, row in _partners(tx, sorted(named)).items()}


def _partners(tx: Transaction, codes: Sequence[str]) -> dict[str, Row]:
    rows = tx.all("partner_list_known", partner_codes=codes) if codes else []
    return {row["partner_code"]: row for row in rows}


def _write_account(tx: Transaction, vault: Vault, partner_id: int, account: Account, actor: Actor) -> str:
    """Create or change one account; returns which it was."""
    identity = {
        "partner_id": partner_id,
        "marketplace_code": account.marketplace,
        "account_ref": account.account_ref,
    }
    found = tx.one("account_find", **identity)
    # Where an import at the same time is faster, this waits for it and inserts nothing.
    stored = found or _insert_account(tx, identity, account)
    changes = _changes(stored, account)
    changes_credentials = _differ(vault, stored, account.credentials)
    if found and not changes and not changes_credentials:
        return "unchanged"
    account_id = stored["account_id"]
    after = {**_settings_of(stored), **changes}
    if found or changes:
        tx.execute(
            "account_change",
            account_id=account_id,
            settings=msgspec.json.encode(after["settings"]).decode(),
            refresh_interval_seconds=after["refresh_interval_seconds"],
            lifts_suspension=changes_credentials,
        )
    version = _write_credentials(tx, vault, account_id, account.credentials) if changes_credentials else None
    detail = {"after": after if not found else changes, "credentials_version": version}
    audit.record(tx, actor, "account.import", f"account:{account_id}", detail)
    return "changed" if found else "created"


def _insert_account(tx: Transaction, identity: Mapping[str, Any], account: Account) -> Row:
    tx.execute(
        "account_insert",
        **identity,
        settings=msgspec.json.encode(account.settings or {}).decode(),
        refresh_interval_seconds=account.refresh_interval_seconds or DEFAULT_REFRESH_INTERVAL_SECONDS,
        now=tx.now(),
    )
    row = tx.one("account_find", **identity)
    if row is None:
        raise RuntimeError(f"the account {identity} was inserted and is not there")
    return row


def _settings_of(stored: Row) -> dict[str, Any]:
    return {
        "settings": msgspec.json.decode(stored["settings"]),
        "refresh_interval_seconds": stored["refresh_interval_seconds"],
    }


def _changes(stored: Row, account: Account) -> dict[str, Any]:
    """The members that the document names and that differ from what is stored."""
    named = {"settings": account.settings, "refresh_interval_seconds": account.refresh_interval_seconds}
    before = _settings_of(stored)
    return {name: value for name, value in named.items() if value is not None and value != before[name]}


def _differ(vault: Vault, stored: Row, values: Mapping[str, str] | None) -> bool:
    """Whether the document names credentials other than the stored ones; those that do not open count as others."""
    if values is None:
        return False
    if stored["version"] is None:
        return True
    try:
        return credentials.opened(vault, stored["account_id"], stored) != values
    except VaultError:
        return True


def _write_credentials(tx: Transaction, vault: Vault, account_id: int, values: Mapping[str, str] | None) -> int:
    """Seal and store the account's credentials, whose row is locked after the account's; returns their version."""
    sealed = credentials.seal(vault, account_id, values or {})
    before = tx.one("credentials_lock", account_id=account_id)
    version = before["version"] + 1 if before else 1
    tx.execute(
        "credentials_replace" if before else "credentials_insert",
        account_id=account_id,
        version=version,
        encryption_version=sealed.version,
        secret_nonce=sealed.nonce,
        secret_sealed=sealed.ciphertext,
        now=tx.now(),
    )
    return version
