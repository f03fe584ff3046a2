"""Which servers are refused, and that the sentence says what to install."""

import pytest

from coordinator.requirements import refusal


@pytest.mark.parametrize(
    ("version", "comment"),
    [
        ("11.8.3-MariaDB-0+deb13u1", "Debian 13"),
        ("10.11.14-MariaDB-0+deb12u2-log", "Debian 12"),
        ("5.5.5-10.6.1-MariaDB", "mariadb.org binary distribution"),
        ("11.4.2", "MariaDB Server"),
    ],
)
def test_mariadb_is_refused(version: str, comment: str) -> None:
    sentence = refusal(version, comment)
    assert sentence
    assert "MariaDB" in sentence
    assert "install MySQL 8.0.19 or later" in sentence


@pytest.mark.parametrize("version", ["5.7.44", "8.0.18", "8.0.18-0ubuntu1", "8.0.3", "strange"])
def test_an_old_server_is_refused(version: str) -> None:
    sentence = refusal(version, "MySQL Community Server - GPL")
    assert sentence
    assert version in sentence
    assert "install MySQL 8.0.19 or later" in sentence


@pytest.mark.parametrize("version", ["8.0.19", "8.0.44-0ubuntu0.24.04.1", "8.4.6", "9.7.0", "9.7.4-debug", "10.0.0"])
def test_what_is_new_enough_is_taken(version: str) -> None:
    assert refusal(version, "MySQL Community Server - GPL") is None
