"""Request signatures: one strict profile of RFC 9421 (HTTP Message Signatures) and RFC 9530 (Content-Digest).

Exactly one signature, labelled ``sig1``, by ``hmac-sha256``, over method, authority, path, query and the digest of
the body, with a fresh nonce. Anything more or less is refused, so there is nothing to negotiate and nothing that an
attacker could leave out. Whether ``created`` is recent and the nonce new is for the caller to judge.
"""

import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver
from http_message_signatures.algorithms import HMAC_SHA256
from http_message_signatures.exceptions import HTTPMessageSignaturesException

from shared.problems import SignatureInvalid

LABEL = "sig1"
TAG = "marketplace-v1"
ALGORITHM = "hmac-sha256"
COMPONENTS = ("@method", "@authority", "@path", "@query", "content-digest")
MAX_TARGET_CHARACTERS = 8192
MAX_HEADER_CHARACTERS = 1024

_PARAMETER = re.compile(r';([a-z]+)=("[\x20\x21\x23-\x5b\x5d-\x7e]*"|[0-9]{1,15})')
_COVERED = " ".join(f'"{name}"' for name in COMPONENTS)
_INPUT = re.compile(re.escape(f"{LABEL}=({_COVERED})") + f"((?:{_PARAMETER.pattern}){{5}})")
_SIGNATURE = re.compile(rf"{LABEL}=:[A-Za-z0-9+/]{{43}}=:")
_DIGEST = re.compile(r"sha-256=:([A-Za-z0-9+/]{43}=):")
_KEY_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{22,64}")


@dataclass(frozen=True)
class _Request:
    """What is signed of a request, in the shape that the library asks for."""

    method: str
    authority: str
    target: str
    headers: dict[str, str] = field(repr=False)


class _Components:
    """Resolves covered components from the raw request target: nothing is decoded or normalised on the way."""

    def __init__(self, request: _Request) -> None:
        path, _, query = request.target.partition("?")
        self._values = {
            "@method": request.method,
            "@authority": request.authority,
            "@path": path,
            "@query": f"?{query}",
            "content-digest": request.headers["Content-Digest"],
        }

    def resolve(self, component: Any) -> str:
        return self._values[component.value]


class _OneKey(HTTPSignatureKeyResolver):
    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def resolve_public_key(self, key_id: str) -> bytes:
        return self._secret

    def resolve_private_key(self, key_id: str) -> bytes:
        return self._secret


class _Verifier(HTTPMessageVerifier):
    """The library's verifier without its clock: the window is judged by the database's (I11)."""

    def validate_created_and_expires(self, sig_input: Any, max_age: Any = None) -> None:
        return None


@dataclass(frozen=True)
class Claim:
    """Who says to have signed a request, when (seconds since 1970) and with which nonce; not yet verified."""

    key_id: str
    created: int
    nonce: str
    _request: _Request = field(repr=False)


class Signer:
    """Signs requests with one key; each call makes a fresh nonce, so a retry is signed by a further call."""

    def __init__(
        self,
        key_id: str,
        secret: bytes,
        now: Callable[[], int] = lambda: int(time.time()),
        nonce: Callable[[], str] = lambda: secrets.token_urlsafe(24),
    ) -> None:
        self._key_id = key_id
        self._now = now
        self._nonce = nonce
        self._signer = HTTPMessageSigner(
            signature_algorithm=HMAC_SHA256, key_resolver=_OneKey(secret), component_resolver_class=_Components
        )

    def headers(self, method: str, authority: str, target: str, body: bytes) -> dict[str, str]:
        """``Content-Digest``, ``Signature-Input`` and ``Signature`` for a request.

        ``authority`` is host and port as configured (lower case, no default port), ``target`` the raw request
        target as it goes over the wire, ``body`` the raw bytes (empty where there is none).
        """
        request = _Request(method, authority, target, {})
        self._signer.sign(
            request,
            key_id=self._key_id,
            created=datetime.fromtimestamp(self._now(), UTC),
            nonce=self._nonce(),
            label=LABEL,
            tag=TAG,
            covered_component_ids=COMPONENTS,
            body=body,
        )
        return request.headers


def parse(method: str, authority: str, target: str, headers: Mapping[str, str]) -> Claim:
    """Read the signature's headers and demand the profile; cheap, and needs no key.

    Raises ``SignatureInvalid`` naming what does not fit. Nothing is proven until ``verify``.
    """
    if len(target) > MAX_TARGET_CHARACTERS or not target.startswith("/"):
        raise SignatureInvalid(f"The request target must start with / and take at most {MAX_TARGET_CHARACTERS}")
    names = ("Signature-Input", "Signature", "Content-Digest")
    present = {name: headers.get(name, "") for name in names}
    for name, value in present.items():
        if not value:
            raise SignatureInvalid(f"The header {name} is missing")
        if len(value) > MAX_HEADER_CHARACTERS:
            raise SignatureInvalid(f"The header {name} takes more than {MAX_HEADER_CHARACTERS} characters")
    if not _SIGNATURE.fullmatch(present["Signature"]):
        raise SignatureInvalid(f"The header Signature must be one {LABEL} of 32 bytes")
    if not _DIGEST.fullmatch(present["Content-Digest"]):
        raise SignatureInvalid("The header Content-Digest must be one sha-256")
    parameters = _parameters(present["Signature-Input"])
    return Claim(
        key_id=_matching("keyid", parameters, _KEY_ID, "lower-case letters, digits, '.', '_', '-', at most 64"),
        created=_created(parameters),
        nonce=_matching("nonce", parameters, _NONCE, "22 to 64 letters of base64url"),
        _request=_Request(method, authority, target, present),
    )


def verify(claim: Claim, secret: bytes, body: bytes) -> None:
    """Check digest and signature over the raw bytes. Raises ``SignatureInvalid``, never saying which byte."""
    verifier = _Verifier(
        signature_algorithm=HMAC_SHA256, key_resolver=_OneKey(secret), component_resolver_class=_Components
    )
    try:
        verifier.verify(claim._request, max_age=None, expect_tag=TAG, expect_label=LABEL, body=body)
    except HTTPMessageSignaturesException as error:
        raise SignatureInvalid("The signature and Content-Digest do not fit the request and the key") from error


def _parameters(signature_input: str) -> dict[str, str]:
    found = _INPUT.fullmatch(signature_input)
    if not found:
        raise SignatureInvalid(
            f"The header Signature-Input must be {LABEL} over exactly ({_COVERED}) with exactly the parameters"
            " created, keyid, alg, nonce and tag"
        )
    parameters = dict(_PARAMETER.findall(found.group(1)))
    if set(parameters) != {"created", "keyid", "alg", "nonce", "tag"}:
        raise SignatureInvalid("The signature's parameters must be exactly created, keyid, alg, nonce and tag")
    for name, demanded in (("alg", ALGORITHM), ("tag", TAG)):
        if parameters[name] != f'"{demanded}"':
            raise SignatureInvalid(f'The signature\'s {name} must be "{demanded}"')
    return parameters


def _created(parameters: Mapping[str, str]) -> int:
    if parameters["created"].startswith('"'):
        raise SignatureInvalid("The signature's created must be a whole number of seconds since 1970")
    return int(parameters["created"])


def _matching(name: str, parameters: Mapping[str, str], pattern: re.Pattern[str], wording: str) -> str:
    value = parameters[name]
    if not value.startswith('"') or not pattern.fullmatch(value[1:-1]):
        raise SignatureInvalid(f"The signature's {name} must be a string of {wording}")
    return value[1:-1]
