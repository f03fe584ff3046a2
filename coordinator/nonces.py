"""Nonces of accepted signatures: what makes a signed request take effect at most once (I10)."""

import math
from datetime import datetime

import pymysql
from pymysql.constants import ER

from coordinator.database import Transaction
from shared.problems import NonceReplayed

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - instants of the database are naive UTC


def seconds_since_1970(instant: datetime) -> float:
    """A naive UTC instant in the unit of a signature's ``created``."""
    return (instant - _EPOCH).total_seconds()


def insert(tx: Transaction, created: int, key_id: str, nonce: str) -> None:
    """Remember a nonce; of two requests with the same one the later waits here for the first to commit.

    Raises ``NonceReplayed``.
    """
    try:
        tx.execute("nonce_insert", created=created, key_id=key_id, nonce=nonce.encode())
    except pymysql.err.IntegrityError as error:
        if error.args[0] != ER.DUP_ENTRY:
            raise
        raise NonceReplayed("This nonce was used before: sign every attempt afresh, retries too") from error


def delete_expired(tx: Transaction, now: datetime, retention_seconds: float, limit: int) -> int:
    """Delete at most ``limit`` nonces that no window can accept any more; returns how many."""
    before = math.floor(seconds_since_1970(now) - retention_seconds)
    return tx.execute("nonce_delete_expired", created_before=max(0, before), limit=limit)
