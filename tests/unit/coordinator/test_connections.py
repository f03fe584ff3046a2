"""How connections are made: TLS wherever bytes leave the machine, verified, its context built once."""

import ssl
from pathlib import Path
from typing import Any

import pytest

from coordinator.connections import Connector, DatabaseSettings

SETTINGS: dict[str, Any] = {"user": "u", "password": "p", "name": "n"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The arguments of each connection that would be made."""
    arguments: list[dict[str, Any]] = []
    monkeypatch.setattr("pymysql.connect", lambda **given: arguments.append(given))
    return arguments


@pytest.mark.parametrize("where", [{"unix_socket": "/run/mysqld.sock"}, {"host": "127.0.0.1"}, {"host": "localhost"}])
def test_no_tls_where_bytes_stay_here(made: list[dict[str, Any]], where: dict[str, Any]) -> None:
    Connector(DatabaseSettings(**SETTINGS, **where)).connect()
    assert made[0]["ssl_disabled"] is True
    assert "ssl" not in made[0]


def test_a_remote_server_must_prove_who_it_is(made: list[dict[str, Any]]) -> None:
    connector = Connector(DatabaseSettings(**SETTINGS, host="db.example"))
    connector.connect()
    connector.connect()
    context = made[0]["ssl"]
    assert isinstance(context, ssl.SSLContext)
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert made[1]["ssl"] is context
    assert "ssl_disabled" not in made[0]


def test_a_certificate_authority_of_one_s_own_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    file.write_text("no certificate")
    with pytest.raises(ssl.SSLError):
        Connector(DatabaseSettings(**SETTINGS, host="db.example", certificate_authority=file))


def test_a_read_waits_longer_than_a_lock(made: list[dict[str, Any]]) -> None:
    """Else a lock wait (5 s) would look like a lost connection."""
    Connector(DatabaseSettings(**SETTINGS)).connect()
    assert made[0]["read_timeout"] > 5
    assert made[0]["autocommit"] is False
