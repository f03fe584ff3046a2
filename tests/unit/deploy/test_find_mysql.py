"""Which MySQL is used, and what is said about those that will not do. The programs here only tell a version."""

import shutil
import subprocess
from pathlib import Path

import pytest

FIND_MYSQL = Path(__file__).parents[3] / "deploy" / "find-mysql"
MYSQL = "mysqld  Ver 9.7.4 for Linux on x86_64 ((Debian))"
OLDEST = "mysqld  Ver 8.0.19 for Linux on x86_64 (MySQL Community Server - GPL)"
TOO_OLD = "mysqld  Ver 8.0.18 for Linux on x86_64 (MySQL Community Server - GPL)"
MARIADB = "mysqld  Ver 10.11.14-MariaDB-0+deb12u2 for debian-linux-gnu on x86_64 (Debian 12)"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing in it but the program under test."""
    (tmp_path / "checkout" / "deploy").mkdir(parents=True)
    shutil.copy(FIND_MYSQL, tmp_path / "checkout" / "deploy")
    return tmp_path / "checkout"


def install(folder: Path, version: str) -> Path:
    """Programs that tell this version and do nothing else."""
    folder.mkdir(parents=True)
    for name in ("mysqld", "mysqld_safe", "mysqladmin"):
        (folder / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (folder / name).chmod(0o755)
    return folder


def find(checkout: Path, path: Path | None = None, mysql_bin: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program with ``path`` in front of the system's, and ``MYSQL_BIN`` where given."""
    environment = {"PATH": f"{path}:/usr/bin:/bin" if path else "/usr/bin:/bin"}
    if mysql_bin:
        environment["MYSQL_BIN"] = str(mysql_bin)
    return subprocess.run(
        [checkout / "deploy" / "find-mysql"], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("version", [MYSQL, OLDEST])
def test_a_suitable_one_in_path_is_taken(checkout: Path, tmp_path: Path, version: str) -> None:
    folder = install(tmp_path / "bin", version)
    install(checkout / ".local/mysql/bin", MYSQL)
    found = find(checkout, path=folder)
    assert (found.returncode, found.stdout) == (0, f"{folder}\n"), found.stderr


def test_mysql_bin_comes_first(checkout: Path, tmp_path: Path) -> None:
    chosen = install(tmp_path / "chosen", MYSQL)
    found = find(checkout, path=install(tmp_path / "bin", MYSQL), mysql_bin=chosen)
    assert found.stdout == f"{chosen}\n"


@pytest.mark.parametrize(("version", "reason"), [(MARIADB, "that is MariaDB"), (TOO_OLD, "that is MySQL 8.0.18")])
def test_an_unsuitable_one_in_path_is_passed_by(checkout: Path, tmp_path: Path, version: str, reason: str) -> None:
    private = install(checkout / ".local/mysql/bin", MYSQL)
    found = find(checkout, path=install(tmp_path / "bin", version))
    assert found.stdout == f"{private}\n"
    assert f"passing by {tmp_path / 'bin'}: {reason}" in found.stderr


@pytest.mark.parametrize(("version", "reason"), [(MARIADB, "that is MariaDB"), (TOO_OLD, "that is MySQL 8.0.18")])
def test_an_unsuitable_mysql_bin_is_refused(checkout: Path, tmp_path: Path, version: str, reason: str) -> None:
    install(checkout / ".local/mysql/bin", MYSQL)
    found = find(checkout, mysql_bin=install(tmp_path / "chosen", version))
    assert (found.returncode, found.stdout) == (2, "")
    assert reason in found.stderr
    assert "8.0.19 or later" in found.stderr


def test_a_mysql_bin_that_is_elsewhere_is_refused(checkout: Path, tmp_path: Path) -> None:
    found = find(checkout, mysql_bin=tmp_path / "nowhere")
    assert found.returncode == 2
    assert "it has no mysqld" in found.stderr


def test_none_is_said_by_the_exit_status(checkout: Path, tmp_path: Path) -> None:
    found = find(checkout, path=install(tmp_path / "bin", MARIADB))
    assert (found.returncode, found.stdout) == (1, "")
