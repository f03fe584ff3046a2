"""Signing keys: issued to servers and operators, read by every request, revoked from the next request on."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime

import pymysql
from pymysql.constants import ER

from coordinator import audit
from coordinator.audit import Actor
from coordinator.database import Row, Transaction
from coordinator.vault import Sealed, Vault, signing_key_binding
from shared.states import Role

SECRET_BYTES = 32
_KEY_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_OPERATOR_NAME = re.compile(r"[^\s|]{1,64}")


class KeyRefusedError(Exception):
    """A key that cannot be issued or revoked as asked; says why."""


@dataclass(frozen=True)
class Key:
    """A key without its secret. ``owner`` is the server_id that a server key acts for, else an operator's name."""

    key_id: str
    role: Role
    owner: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


@dataclass(frozen=True)
class StoredKey:
    """A key as a request finds it: still sealed, and whether it may be used now."""

    key: Key
    sealed: Sealed
    usable: bool


def issue(
    tx: Transaction, vault: Vault, *, key_id: str, role: Role, owner: str, expires_at: datetime | None, actor: Actor
) -> bytes:
    """Make a key and return its secret, which is not kept in the clear and cannot be shown again.

    Raises ``KeyRefusedError`` for a key_id that exists, or names that the protocol does not allow.
    """
    _check_names(key_id, role, owner)
    secret = secrets.token_bytes(SECRET_BYTES)
    sealed = vault.seal(secret, signing_key_binding(key_id, owner))
    try:
        tx.execute(
            "signing_key_insert",
            key_id=key_id,
            role=role,
            owner=owner,
            encryption_version=sealed.version,
            secret_nonce=sealed.nonce,
            secret_sealed=sealed.ciphertext,
            now=tx.now(),
            expires_at=expires_at,
        )
    except pymysql.err.IntegrityError as error:
        if error.args[0] != ER.DUP_ENTRY:
            raise
        raise KeyRefusedError(f"there is a key {key_id} already: choose another key_id") from error
    audit.record(tx, actor, "key.issue", f"key:{key_id}", {"role": role, "owner": owner})
    return secret


def revoke(tx: Transaction, key_id: str, actor: Actor) -> None:
    """Revoke a key from the next request on. Raises ``KeyRefusedError`` when there is none in force by that id."""
    if not tx.execute("signing_key_revoke", key_id=key_id, now=tx.now()):
        raise KeyRefusedError(f"there is no key {key_id} in force")
    audit.record(tx, actor, "key.revoke", f"key:{key_id}", {})


def all_keys(tx: Transaction, owner: str | None = None) -> list[Key]:
    """All keys, or those of one owner, in the order of owner and key_id."""
    return [_key(row) for row in tx.all("signing_key_list", owner=owner)]


def find(tx: Transaction, key_id: str) -> StoredKey | None:
    """The key by that id, revoked and expired ones too (``usable`` tells)."""
    row = tx.one("signing_key_read", key_id=key_id)
    if row is None:
        return None
    key = _key(row)
    sealed = Sealed(row["encryption_version"], row["secret_nonce"], row["secret_sealed"])
    expired = key.expires_at is not None and key.expires_at <= row["now"]
    return StoredKey(key, sealed, usable=key.revoked_at is None and not expired)


def _check_names(key_id: str, role: Role, owner: str) -> None:
    named = "lower-case letters, digits, '.', '_' or '-', at most 64, first a letter or digit"
    if not _KEY_ID.fullmatch(key_id):
        raise KeyRefusedError(f"key_id must be {named}")
    if role is Role.SERVER and not _KEY_ID.fullmatch(owner):
        raise KeyRefusedError(f"the owner of a server key is its server_id: {named}")
    if not _OPERATOR_NAME.fullmatch(owner):
        raise KeyRefusedError("owner must be 1 to 64 characters without white space")


def _key(row: Row) -> Key:
    return Key(row["key_id"], Role(row["role"]), row["owner"], row["created_at"], row["expires_at"], row["revoked_at"])
