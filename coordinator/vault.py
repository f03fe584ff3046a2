"""Secrets at rest: AES-256-GCM under a key-encryption key that lives in a file, never in the database.

Each sealed secret is bound to what it is for and whose it is: moved to another row it does not open.
"""

import base64
import binascii
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12
_FORM = "each line must be VERSION:KEY, a number from 1 to 65535 and 32 bytes in base64"


class VaultError(Exception):
    """A key file that cannot be used, or a secret that does not open; says what to do, holds nothing secret."""


@dataclass(frozen=True)
class Sealed:
    """A secret as it is stored; ``version`` tells which key-encryption key sealed it."""

    version: int
    nonce: bytes
    ciphertext: bytes


@dataclass(frozen=True)
class Binding:
    """What a secret is for and whose it is: the authenticated data besides the key's version."""

    purpose: str
    subject: str
    owner: str

    def authenticated(self, version: int) -> bytes:
        """``purpose|version|subject|owner``; only the last may hold a bar, so two bindings never read alike."""
        if "|" in self.purpose + self.subject:
            raise ValueError("a binding's purpose and subject must not hold a bar")
        return f"{self.purpose}|{version}|{self.subject}|{self.owner}".encode()


def signing_key_binding(key_id: str, owner: str) -> Binding:
    """What a signing key's secret is bound to."""
    return Binding("signing-key", key_id, owner)


def credentials_binding(account_id: int) -> Binding:
    """What an account's marketplace credentials are bound to."""
    return Binding("account-credentials", str(account_id), "")


class Vault:
    """Seals with the newest key-encryption key, opens with whichever sealed."""

    def __init__(self, keys: Mapping[int, bytes]) -> None:
        if not keys:
            raise VaultError("there is no key-encryption key")
        self._ciphers = {version: AESGCM(key) for version, key in keys.items()}
        self._newest = max(keys)

    def seal(self, secret: bytes, binding: Binding) -> Sealed:
        """``secret``, encrypted under a fresh nonce and bound."""
        nonce = os.urandom(NONCE_BYTES)
        bound = binding.authenticated(self._newest)
        return Sealed(self._newest, nonce, self._ciphers[self._newest].encrypt(nonce, secret, bound))

    def open(self, sealed: Sealed, binding: Binding) -> bytes:
        """The secret. Raises ``VaultError`` when its key is not here, or it was altered or belongs elsewhere."""
        cipher = self._ciphers.get(sealed.version)
        if cipher is None:
            raise VaultError(f"key-encryption key {sealed.version} is not in the key file: put it back")
        try:
            return cipher.decrypt(sealed.nonce, sealed.ciphertext, binding.authenticated(sealed.version))
        except InvalidTag as error:
            raise VaultError(
                f"the {binding.purpose} of {binding.subject} does not open: the key file holds another key under"
                f" version {sealed.version}, or the row was altered"
            ) from error


def read_key_file(path: Path, *, private: bool) -> dict[int, bytes]:
    """The key-encryption keys in ``path``, by version.

    ``private`` refuses a file that others than its owner and group can read. Raises ``VaultError``.
    """
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise VaultError(f"the key file {path} cannot be read ({type(error).__name__}): {_FORM}") from error
    if private and mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        raise VaultError(f"the key file {path} is open to others: chmod 0400 {path}")
    keys = dict(_parse_line(path, line) for line in lines)
    if len(keys) != len(lines) or not keys:
        raise VaultError(f"the key file {path} is empty or names a version twice: {_FORM}")
    return keys


def new_key_line(version: int = 1) -> str:
    """A line for a key file with a fresh random key."""
    return f"{version}:{base64.b64encode(os.urandom(KEY_BYTES)).decode()}\n"


def _parse_line(path: Path, line: str) -> tuple[int, bytes]:
    version, _, encoded = line.partition(":")
    try:
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        key = b""
    if not version.isdecimal() or not 1 <= int(version) <= 65535 or len(key) != KEY_BYTES:
        raise VaultError(f"the key file {path} cannot be used: {_FORM}")
    if len(set(key)) == 1:
        raise VaultError(f"key {version} in the key file {path} is not random: make one with openssl rand -base64 32")
    return int(version), key
