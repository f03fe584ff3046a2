"""What a worker is told: environment variables ``WORKER_…``, and below them an optional TOML file.

A setting ``server_id`` is the variable ``WORKER_SERVER_ID`` or the file's top-level key of that name. Every problem is
found before anything starts, and each is named with its remedy.
"""

import base64
import binascii
import json
import os
import re
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from worker.connectors.origin import Origin

PREFIX = "WORKER_"
MIN_SECRET_BYTES = 32
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_DEFAULTS: Mapping[str, str] = {
    "environment": "development",
    "server_id": "",
    "key_id": "",
    "key_file": "",
    "coordinator": "",
    "certificate_authority": "",
    "state_folder": "/var/lib/marketplace-worker",
    "connectors": "",
    "origins": "{}",
    "log_level": "info",
    "drain_seconds": "60",
}


class ConfigurationError(Exception):
    """Settings that cannot be used; ``problems`` holds one line each, with the remedy."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Configuration:
    """Settings that hold together.

    ``connectors`` is the folder of marketplace descriptions, ``origins`` replaces the origins of marketplaces by code
    (the sandbox's port is known only at its start), ``drain_seconds`` bounds an orderly end.
    """

    production: bool
    server_id: str
    key_id: str
    secret: bytes = field(repr=False)
    coordinator: Origin
    certificate_authority: Path | None
    state_folder: Path
    connectors: Path
    origins: Mapping[str, str]
    log_level: str
    drain_seconds: float


def load(environ: Mapping[str, str] = os.environ) -> Configuration:
    """Read and check all settings. Raises ``ConfigurationError`` naming every problem at once."""
    problems: list[str] = []
    values = {**_DEFAULTS, **_from_file(environ, problems), **_from_environment(environ)}
    production = _production(values, environ, problems)
    server_id = _name("server_id", values["server_id"], problems)
    configuration = Configuration(
        production=production,
        server_id=server_id,
        key_id=_name("key_id", values["key_id"], problems) if values["key_id"] else server_id,
        secret=_secret(values["key_file"], environ, production, problems),
        coordinator=_coordinator(values["coordinator"], production, problems),
        certificate_authority=_file("certificate_authority", values["certificate_authority"], problems),
        state_folder=Path(values["state_folder"]),
        connectors=_connectors(values["connectors"], problems),
        origins=_origins(values["origins"], problems),
        log_level=_log_level(values["log_level"], problems),
        drain_seconds=_drain_seconds(values["drain_seconds"], problems),
    )
    if problems:
        raise ConfigurationError(problems)
    return configuration


def _from_environment(environ: Mapping[str, str]) -> dict[str, str]:
    names = {f"{PREFIX}{name.upper()}": name for name in _DEFAULTS}
    return {name: environ[variable] for variable, name in names.items() if variable in environ}


def _from_file(environ: Mapping[str, str], problems: list[str]) -> dict[str, str]:
    path = environ.get(f"{PREFIX}CONFIGURATION")
    if not path:
        return {}
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{PREFIX}CONFIGURATION: {path} is no readable TOML file: {error}")
        return {}
    for name in sorted(set(content) - set(_DEFAULTS)):
        problems.append(f"{name}: {path} sets it, but there is no such setting; there are {', '.join(_DEFAULTS)}")
    return {name: _text(value) for name, value in content.items() if name in _DEFAULTS}


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _production(values: Mapping[str, str], environ: Mapping[str, str], problems: list[str]) -> bool:
    named = environ.get("ENVIRONMENT") or values["environment"]
    if named not in ("development", "production"):
        problems.append(f"environment: {named!r} is none of development, production")
    return named == "production"


def _name(setting: str, value: str, problems: list[str]) -> str:
    if not _NAME.fullmatch(value):
        problems.append(
            f"{setting}: {value!r} must be 1 to 64 of a-z, 0-9, '.', '_', '-', starting with a letter or digit"
        )
    return value


def _secret(value: str, environ: Mapping[str, str], production: bool, problems: list[str]) -> bytes:
    credentials = environ.get("CREDENTIALS_DIRECTORY")
    if not value and credentials:
        value = str(Path(credentials) / "signing-key")
    if not value:
        problems.append("key_file: name the file that `coordinator keys issue --out FILE` wrote for this server")
        return b""
    try:
        secret = base64.b64decode(Path(value).read_bytes().strip(), validate=True)
        mode = Path(value).stat().st_mode
    except (OSError, binascii.Error) as error:
        problems.append(f"key_file: {value} cannot be read as a base64 secret: {type(error).__name__}")
        return b""
    if len(secret) < MIN_SECRET_BYTES:
        problems.append(f"key_file: {value} holds {len(secret)} bytes, a key has at least {MIN_SECRET_BYTES}")
    if production and mode & (stat.S_IROTH | stat.S_IWOTH):
        problems.append(f"key_file: {value} is open to others: chmod 0400 {value}")
    return secret


def _coordinator(value: str, production: bool, problems: list[str]) -> Origin:
    try:
        origin = Origin.parse(value)
    except ValueError as error:
        problems.append(f"coordinator: {value!r} {error}")
        return Origin("https", "unset", 443, "")
    if production and origin.scheme != "https":
        problems.append("coordinator: production speaks https only: name the coordinator's https origin")
    return origin


def _file(setting: str, value: str, problems: list[str]) -> Path | None:
    if value and not Path(value).is_file():
        problems.append(f"{setting}: there is no file {value}")
    return Path(value) if value else None


def _connectors(value: str, problems: list[str]) -> Path:
    if not value or not Path(value).is_dir():
        problems.append(f"connectors: {value!r} must be a folder with a description (*.toml) for each marketplace")
    return Path(value)


def _origins(value: str, problems: list[str]) -> dict[str, str]:
    try:
        document = json.loads(value)
    except ValueError:
        document = None
    if not isinstance(document, dict) or not all(isinstance(text, str) for text in document.values()):
        problems.append(
            'origins: must be a JSON object of origins by marketplace code, such as {"bazaar": "https://…"}'
        )
        return {}
    return document


def _log_level(value: str, problems: list[str]) -> str:
    if value not in ("debug", "info", "warning", "error"):
        problems.append(f"log_level: {value!r} is none of debug, info, warning, error")
    return value


def _drain_seconds(value: str, problems: list[str]) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 3600:
        problems.append(f"drain_seconds: {value!r} must be a number of seconds above 0, at most 3600")
    return seconds
