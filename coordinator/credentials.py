"""Credentials of accounts: sealed at rest, opened for a task's owner, rotated by it while it crawls."""

from collections.abc import Mapping
from typing import Any

import msgspec

from coordinator import ownership
from coordinator.database import Row, Transaction
from coordinator.ownership import Owner
from coordinator.vault import Sealed, Vault, credentials_binding
from shared.problems import CredentialsConflict, InvalidInput

MAX_SEALED_BYTES = 16_384


def seal(vault: Vault, account_id: int, values: Mapping[str, Any]) -> Sealed:
    """The connector's members, sealed and bound to their account. Raises ``InvalidInput`` when they are too large."""
    sealed = vault.seal(msgspec.json.encode(values), credentials_binding(account_id))
    if len(sealed.ciphertext) > MAX_SEALED_BYTES:
        raise InvalidInput("The credentials are too large", errors={"values": "must take less than 16 KiB together"})
    return sealed


def opened(vault: Vault, account_id: int, row: Row) -> dict[str, Any]:
    """The connector's members out of a row of ``account_credentials``. Raises ``VaultError``."""
    sealed = Sealed(row["encryption_version"], row["secret_nonce"], row["secret_sealed"])
    values: dict[str, Any] = msgspec.json.decode(vault.open(sealed, credentials_binding(account_id)))
    return values


def rotate(tx: Transaction, vault: Vault, owner: Owner, version: int, values: Mapping[str, str]) -> int:
    """Replace version ``version`` of the credentials of the owner's account; returns the version that they have now.

    A repeat after a lost answer is answered alike. A suspended account may run again. Raises ``StaleTaskOwner``,
    ``CredentialsConflict`` when others changed them meanwhile, and ``InvalidInput``.
    """
    owned = ownership.lock_owned(tx, owner)
    account_id = owned.task.account_id
    sealed = seal(vault, account_id, values)
    tx.execute("credentials_lift_suspension", account_id=account_id)
    stored = tx.one("credentials_lock", account_id=account_id)
    if stored is None:
        raise CredentialsConflict("The account has no credentials to replace", version=0)
    if stored["version"] == version + 1 and opened(vault, account_id, stored) == values:
        return version + 1
    if stored["version"] != version:
        raise CredentialsConflict(f"Version {stored['version']} is current, not {version}", version=stored["version"])
    tx.execute(
        "credentials_replace",
        account_id=account_id,
        version=version + 1,
        encryption_version=sealed.version,
        secret_nonce=sealed.nonce,
        secret_sealed=sealed.ciphertext,
        now=owned.now,
    )
    return version + 1
