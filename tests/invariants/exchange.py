"""One request and what came of it, as a process wrote it down: a line of JSON.

Both ends write: ``client`` lines say what was sent and answered, ``coordinator`` lines what was received and decided.
Instants are CLOCK_MONOTONIC seconds, which all processes of a machine share. A batch's listings are kept as their
references, credentials not at all.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

API = "/api/v1"
_DROPPED = ("credentials", "values", "settings", "policy")


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True):
    """``status`` and ``answer`` are missing where none came; ``failure`` says why; ``digest`` is that of the body."""

    side: str
    began: float
    ended: float
    method: str
    path: str
    said: dict[str, Any] = {}
    digest: str = ""
    nonce: str = ""
    status: int | None = None
    answer: dict[str, Any] = {}
    failure: str | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the coordinator did what was asked."""
        return self.status is not None and 200 <= self.status < 300


class Recorder:
    """Appends exchanges to this process's file in a folder; one write each, so that a kill tears none."""

    def __init__(self, folder: Path, side: str) -> None:
        self.side = side
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{side}-{os.getpid()}.jsonl"
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def record(self, exchange: Exchange) -> None:
        """Write it down."""
        os.write(self._file, msgspec.json.encode(exchange) + b"\n")


def read(folder: Path) -> Iterator[Exchange]:
    """All exchanges that processes wrote into the folder; a line that a kill left half written is passed over."""
    decoder = msgspec.json.Decoder(Exchange)
    for file in sorted(folder.glob("*.jsonl")):
        with file.open("rb") as lines:
            yield from (decoder.decode(line) for line in lines if line.endswith(b"\n"))


def spoken(body: bytes) -> tuple[dict[str, Any], str]:
    """What a body says, without what is secret or long, and its SHA-256 in hex."""
    return _document(body), hashlib.sha256(body).hexdigest()


def _document(body: bytes) -> dict[str, Any]:
    try:
        document = msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    if isinstance(document.get("listings"), list):
        document["listings"] = [each.get("listing_ref") for each in document["listings"]]
    return {name: value for name, value in document.items() if name not in _DROPPED}


def answered(body: bytes) -> dict[str, Any]:
    """What an answer says, without what is secret or long."""
    return _document(body)


def nonce_of(headers: Mapping[str, str]) -> str:
    """Key and nonce of a signature, as they stand in ``Signature-Input``."""
    said = headers.get("Signature-Input", headers.get("HTTP_SIGNATURE_INPUT", ""))
    parts = dict(part.partition("=")[::2] for part in said.split(";"))
    return f"{parts.get('keyid', '')} {parts.get('nonce', '')}".strip()
