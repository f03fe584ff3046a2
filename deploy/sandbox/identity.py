"""Who an account is at a simulated marketplace: settings and credentials follow from the seed."""

import hmac
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Identity:
    """An account's identity; `settings` and `credentials` are what its connector needs, in the connector's names."""

    settings: dict[str, str]
    credentials: dict[str, str]


def identity(seed: int, marketplace_code: str, account_ref: str) -> Identity:
    """The identity of an account. The secrets guard nothing but made-up items: whoever knows the seed knows them."""
    key, secret = (_secret(seed, marketplace_code, account_ref, name) for name in ("key", "secret"))
    identities = {
        "bazaar": Identity({"seller_id": account_ref}, {"key": key, "secret": secret}),
        "harbour": Identity({"merchant_id": account_ref}, {"username": key, "password": secret}),
        "meridian": Identity({}, {"token": secret}),
        "quayside": Identity({}, {"api_key": secret}),
    }
    return identities[marketplace_code]


def _secret(seed: int, marketplace_code: str, account_ref: str, name: str) -> str:
    return hmac.digest(str(seed).encode(), f"{marketplace_code}|{account_ref}|{name}".encode(), sha256).hex()[:32]
