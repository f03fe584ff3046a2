"""What a coordinator is told: environment variables ``COORDINATOR_…``, and below them an optional TOML file.

A setting ``database_host`` is the variable ``COORDINATOR_DATABASE_HOST`` or the file's top-level key of that name.
Every problem is found before anything starts, and each is named with its remedy.
"""

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from coordinator.connections import DatabaseSettings
from coordinator.vault import Vault, VaultError, read_key_file

PREFIX = "COORDINATOR_"
_TRIVIAL_PASSWORDS = frozenset({"", "password", "secret", "root", "mysql", "changeme", "coordinator"})
_LOG_LEVELS = ("debug", "info", "warning", "error")
_DEFAULTS: Mapping[str, str] = {
    "environment": "development",
    "origin": "",
    "key_file": "",
    "log_level": "info",
    "database_host": "127.0.0.1",
    "database_port": "3306",
    "database_socket": "",
    "database_user": "coordinator",
    "database_password": "",
    "database_password_file": "",
    "database_name": "marketplace",
    "database_certificate_authority": "",
    "database_pool_size": "8",
}


class ConfigurationError(Exception):
    """Settings that cannot be used; ``problems`` holds one line each, with the remedy."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass(frozen=True)
class Configuration:
    """Settings that hold together; ``authority`` is the host and port that requests are signed for."""

    production: bool
    authority: str
    log_level: str
    key_file: Path
    database: DatabaseSettings

    def open_vault(self) -> Vault:
        """The vault of the key file. Raises ``ConfigurationError``."""
        try:
            return Vault(read_key_file(self.key_file, private=self.production))
        except VaultError as error:
            raise ConfigurationError([f"key_file: {error}"]) from error


def load(environ: Mapping[str, str] = os.environ) -> Configuration:
    """Read and check all settings. Raises ``ConfigurationError`` naming every problem at once."""
    problems: list[str] = []
    values = {**_DEFAULTS, **_from_file(environ, problems), **_from_environment(environ)}
    production = _production(values, environ, problems)
    configuration = Configuration(
        production=production,
        authority=_authority(values["origin"], production, problems),
        log_level=_one_of("log_level", values["log_level"], _LOG_LEVELS, problems),
        key_file=_key_file(values["key_file"], environ, problems),
        database=_database(values, production, problems),
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
        content: dict[str, Any] = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        problems.append(f"{PREFIX}CONFIGURATION: {path} is no readable TOML file: {error}")
        return {}
    for name in sorted(set(content) - set(_DEFAULTS)):
        problems.append(f"{name}: {path} sets it, but there is no such setting; there are {', '.join(_DEFAULTS)}")
    return {name: str(value) for name, value in content.items() if name in _DEFAULTS}


def _production(values: Mapping[str, str], environ: Mapping[str, str], problems: list[str]) -> bool:
    named = environ.get("ENVIRONMENT") or values["environment"]
    return _one_of("environment", named, ("development", "production"), problems) == "production"


def _one_of(name: str, value: str, allowed: tuple[str, ...], problems: list[str]) -> str:
    if value not in allowed:
        problems.append(f"{name}: {value!r} is none of {', '.join(allowed)}")
    return value


def _authority(origin: str, production: bool, problems: list[str]) -> str:
    """Host and port of an origin, lower case and without the scheme's default port (RFC 9421 section 2.2.3)."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in ("http", "https") or not host or parts.path.strip("/") or parts.query or parts.username:
        problems.append(
            f"origin: {origin!r} must be the coordinator's scheme, host and port as clients use them, such as"
            " https://coordinator.example:8443"
        )
        return ""
    if production and parts.scheme != "https":
        problems.append("origin: production is served over https only: put the coordinator behind TLS")
    host = f"[{host}]" if ":" in host else host
    default_port = {"http": 80, "https": 443}[parts.scheme]
    return host if port in (None, default_port) else f"{host}:{port}"


def _key_file(value: str, environ: Mapping[str, str], problems: list[str]) -> Path:
    credentials = environ.get("CREDENTIALS_DIRECTORY")
    if not value and credentials:
        return Path(credentials) / "key-encryption-key"
    if not value:
        problems.append(
            "key_file: name the file that holds the key-encryption key; one is made by:"
            ' (umask 277; echo "1:$(openssl rand -base64 32)" > FILE)'
        )
    return Path(value)


def _database(values: Mapping[str, str], production: bool, problems: list[str]) -> DatabaseSettings:
    authority = values["database_certificate_authority"]
    if authority and not Path(authority).is_file():
        problems.append(f"database_certificate_authority: there is no file {authority}")
        authority = ""
    return DatabaseSettings(
        host=values["database_host"],
        port=_whole("database_port", values["database_port"], 65535, problems),
        unix_socket=values["database_socket"] or None,
        user=values["database_user"],
        password=_password(values, production, problems),
        name=values["database_name"],
        certificate_authority=Path(authority) if authority else None,
        pool_size=_whole("database_pool_size", values["database_pool_size"], 256, problems),
    )


def _whole(name: str, value: str, most: int, problems: list[str]) -> int:
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value) <= most:
        problems.append(f"{name}: {value!r} must be a whole number from 1 to {most}")
        return 1
    return int(value)


def _password(values: Mapping[str, str], production: bool, problems: list[str]) -> str:
    password, file = values["database_password"], values["database_password_file"]
    if file:
        try:
            password = Path(file).read_text(encoding="utf-8").rstrip("\n")
            if production and Path(file).stat().st_mode & (stat.S_IROTH | stat.S_IWOTH):
                problems.append(f"database_password_file: {file} is open to others: chmod 0400 {file}")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(f"database_password_file: {file} cannot be read: {type(error).__name__}")
    if production and (password in _TRIVIAL_PASSWORDS or password == values["database_user"]):
        problems.append("database_password: production takes no empty or default password: set another")
    return password
