"""Signing keys: sealed at rest, issued once, listed without secrets, revoked for good; and the nonces' clean-up."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator import keys, nonces
from coordinator.audit import Actor
from coordinator.database import Database
from coordinator.keys import KeyRefusedError
from coordinator.vault import Vault, signing_key_binding
from shared.states import Role
from tests.integration.clock import Clock
from tests.integration.seed import Seed

ACTOR = Actor("cli:ann")


@pytest.fixture
def vault() -> Vault:
    return Vault({1: bytes(range(32))})


def issue(database: Database, vault: Vault, key_id: str, role: Role = Role.SERVER, owner: str = "server-1") -> bytes:
    return database.transaction(
        lambda tx: keys.issue(tx, vault, key_id=key_id, role=role, owner=owner, expires_at=None, actor=ACTOR)
    )


def test_a_secret_is_stored_sealed_and_opens_for_its_row(database: Database, vault: Vault, seed: Seed) -> None:
    secret = issue(database, vault, "key-1")
    assert len(secret) == 32
    row = seed.row("signing_keys")
    assert secret not in row["secret_sealed"]
    stored = database.transaction(lambda tx: keys.find(tx, "key-1"))
    assert stored
    assert vault.open(stored.sealed, signing_key_binding("key-1", "server-1")) == secret


def test_issuing_and_revoking_are_audited_without_secrets(database: Database, vault: Vault, seed: Seed) -> None:
    issue(database, vault, "key-1")
    database.transaction(lambda tx: keys.revoke(tx, "key-1", ACTOR))
    entries = seed.rows("SELECT actor, action, subject FROM audit_log ORDER BY audit_id")
    assert [tuple(entry.values()) for entry in entries] == [
        ("cli:ann", "key.issue", "key:key-1"),
        ("cli:ann", "key.revoke", "key:key-1"),
    ]


def test_a_key_id_is_given_once(database: Database, vault: Vault, seed: Seed) -> None:
    issue(database, vault, "key-1")
    with pytest.raises(KeyRefusedError, match="key-1"):
        issue(database, vault, "key-1")
    assert seed.count("signing_keys") == seed.count("audit_log") == 1


@pytest.mark.parametrize(
    "named",
    [
        {"key_id": "Key"},
        {"key_id": ""},
        {"key_id": "k" * 65},
        {"key_id": "key", "owner": "Server 1"},
        {"key_id": "key", "role": Role.OPERATOR, "owner": ""},
        {"key_id": "key", "role": Role.OPERATOR, "owner": "a|b"},
        {"key_id": "key", "role": Role.VIEWER, "owner": "x" * 65},
    ],
    ids=str,
)
def test_names_that_the_protocol_does_not_allow_are_refused(
    database: Database, vault: Vault, seed: Seed, named: dict[str, Any]
) -> None:
    with pytest.raises(KeyRefusedError):
        issue(database, vault, **named)
    assert seed.count("signing_keys") == 0


def test_keys_are_listed_by_owner(database: Database, vault: Vault) -> None:
    for key_id, owner in (("b", "server-1"), ("a", "server-1"), ("c", "server-2")):
        issue(database, vault, key_id, owner=owner)
    assert [key.key_id for key in database.transaction(keys.all_keys)] == ["a", "b", "c"]
    assert [key.key_id for key in database.transaction(lambda tx: keys.all_keys(tx, "server-2"))] == ["c"]


def test_a_key_is_revoked_once(database: Database, vault: Vault) -> None:
    issue(database, vault, "key-1")
    database.transaction(lambda tx: keys.revoke(tx, "key-1", ACTOR))
    for key_id in ("key-1", "key-2"):
        with pytest.raises(KeyRefusedError, match=key_id):
            database.transaction(lambda tx, key_id=key_id: keys.revoke(tx, key_id, ACTOR))


def test_nonces_leave_in_bounded_bites_when_no_window_accepts_them(
    database: Database, clock: Clock, seed: Seed
) -> None:
    now = int(nonces.seconds_since_1970(clock.now))
    for age in (299, 300, 301, 302, 303):
        seed.insert("nonces", created=now - age, key_id="k", nonce=b"n")

    def clean(limit: int) -> int:
        return database.transaction(lambda tx: nonces.delete_expired(tx, tx.now(), 300, limit))

    assert clean(2) == 2
    assert clean(10) == 1
    assert clean(10) == 0
    left = [row["created"] for row in seed.rows("SELECT created FROM nonces ORDER BY created")]
    assert left == [now - 300, now - 299]
