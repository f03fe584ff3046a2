"""Who asks: key, signature over the raw bytes, nonce, then the window; in this order, which is load-bearing.

The nonce is stored before the clock is read: judged the other way round, a process that was paused in between could
accept a replay whose nonce had been cleaned up meanwhile. A bad signature stores nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from coordinator import keys, nonces
from coordinator.database import Database, Transaction
from coordinator.policies import CurrentPolicy, PolicyReader
from coordinator.vault import Vault, signing_key_binding
from shared import signing
from shared.problems import Forbidden, SignatureExpired, SignatureInvalid
from shared.signing import Claim
from shared.states import Role

_UNKNOWN_KEY = "There is no such key, or it was revoked or has expired"


@dataclass(frozen=True)
class Caller:
    """Who signed: ``owner`` is a server's id for role ``server``, else an operator's name."""

    key_id: str
    role: Role
    owner: str

    def require_role(self, *allowed: Role) -> None:
        """Raise ``Forbidden`` unless the key has one of these roles."""
        if self.role not in allowed:
            raise Forbidden(f"A key of role {self.role} may not do this; it takes: {', '.join(allowed)}")

    def require_server(self, server_id: str) -> None:
        """Raise ``Forbidden`` unless the key is that server's own."""
        self.require_role(Role.SERVER)
        if self.owner != server_id:
            raise Forbidden(f"The key {self.key_id} may act for server {self.owner} only")


class Admission:
    """A verified request on its way in: it still has to store its nonce and pass the window, once."""

    def __init__(self, caller: Caller, claim: Claim, reader: PolicyReader) -> None:
        self.caller = caller
        self.policy: CurrentPolicy | None = None
        self._claim = claim
        self._reader = reader

    def admit(self, tx: Transaction) -> None:
        """Store the nonce, then read the clock and judge the window; the first thing in a request's transaction.

        Raises ``NonceReplayed`` or ``SignatureExpired``.
        """
        claim = self._claim
        nonces.insert(tx, claim.created, claim.key_id, claim.nonce)
        now = tx.now()
        self.policy = self._reader.current(tx)
        window = self.policy.policy.signature_window_seconds
        if abs(nonces.seconds_since_1970(now) - claim.created) > window:
            raise SignatureExpired(
                f"The signature's created must lie within {window:g} s of the coordinator's clock: sign afresh",
                now=f"{now.isoformat(timespec='microseconds')}Z",
            )


class Authenticator:
    """Verifies signatures with the keys in the database."""

    def __init__(self, database: Database, vault: Vault, authority: str) -> None:
        self._database = database
        self._vault = vault
        self._authority = authority
        self._reader = PolicyReader()

    def authenticate(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Admission:
        """Verify the signature over the raw request; nothing is stored yet.

        Raises ``SignatureInvalid``, and ``DatabaseUnavailable`` when no key can be read: that is no verdict.
        """
        claim = signing.parse(method, self._authority, target, headers)
        stored = self._database.transaction(lambda tx: keys.find(tx, claim.key_id))
        if stored is None or not stored.usable:
            raise SignatureInvalid(_UNKNOWN_KEY)
        key = stored.key
        secret = self._vault.open(stored.sealed, signing_key_binding(key.key_id, key.owner))
        signing.verify(claim, secret, body)
        return Admission(Caller(key.key_id, key.role, key.owner), claim, self._reader)
