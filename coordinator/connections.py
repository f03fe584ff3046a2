"""How a connection to MySQL is made: transport, session settings, and how Python values become SQL literals."""

import ipaddress
import ssl
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pymysql
from pymysql.constants import CLIENT
from pymysql.converters import conversions, escape_datetime
from pymysql.cursors import DictCursor

LOCK_WAIT_SECONDS = 5
SQL_MODE = (
    "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,"
    "ERROR_FOR_DIVISION_BY_ZERO,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION"
)
_SESSION = (
    "SET SESSION transaction_isolation = 'READ-COMMITTED',"
    f" sql_mode = '{SQL_MODE}',"
    " time_zone = '+00:00',"
    f" innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS},"
    " lock_wait_timeout = 10"
)


@dataclass(frozen=True)
class DatabaseSettings:
    """Where the database is and who asks; a ``unix_socket`` wins over ``host`` and ``port``.

    ``read_timeout_seconds`` must be above the lock wait of 5 s, or a lock wait looks like a lost connection.
    """

    user: str
    password: str = field(repr=False)
    name: str
    host: str = "127.0.0.1"
    port: int = 3306
    unix_socket: str | None = None
    certificate_authority: Path | None = None
    pool_size: int = 8
    connect_timeout_seconds: int = 3
    read_timeout_seconds: int = 8

    @property
    def is_local(self) -> bool:
        """Whether bytes to the database never leave this machine, so that TLS would protect nothing."""
        if self.unix_socket or self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class Connector:
    """Makes connections to one database. The TLS context is built once: building it costs 35 ms and more."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._tls = None if settings.is_local else _tls_context(settings.certificate_authority)

    def connect(self, database: str | None = None, **overrides: Any) -> "pymysql.Connection[DictCursor]":
        """A new connection with the session settings that the project relies on, in no transaction.

        ``database`` defaults to the configured one; ``overrides`` replace PyMySQL's arguments (timeouts).
        Raises ``pymysql.MySQLError`` when there is none to be had.
        """
        settings = self._settings
        transport: dict[str, Any] = {"ssl": self._tls} if self._tls else {"ssl_disabled": True}
        arguments = {
            "host": settings.host,
            "port": settings.port,
            "unix_socket": settings.unix_socket,
            "user": settings.user,
            "password": settings.password,
            "database": settings.name if database is None else database,
            "charset": "utf8mb4",
            "autocommit": False,
            "client_flag": CLIENT.FOUND_ROWS,
            "init_command": _SESSION,
            "cursorclass": DictCursor,
            "conv": _CONVERSIONS,
            "connect_timeout": settings.connect_timeout_seconds,
            "read_timeout": settings.read_timeout_seconds,
            "write_timeout": settings.read_timeout_seconds,
            **transport,
            **overrides,
        }
        return pymysql.connect(**arguments)


def _tls_context(certificate_authority: Path | None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=certificate_authority)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _uuid_literal(value: uuid.UUID, _mapping: object = None) -> str:
    return f"X'{value.hex}'"


def _instant_literal(value: datetime, mapping: Any = None) -> str:
    if value.tzinfo is not None:
        raise ValueError("instants are naive UTC: a time zone would be dropped silently")
    literal: str = escape_datetime(value, mapping)
    return literal


_CONVERSIONS: dict[Any, Callable[..., Any]] = {
    **conversions,
    uuid.UUID: _uuid_literal,
    datetime: _instant_literal,
}
