"""What installing MySQL does without downloading anything: nothing when all is there, and nothing where it must not."""

import subprocess
from pathlib import Path

import pytest

INSTALL_MYSQL = Path(__file__).parents[3] / "deploy" / "install-mysql"


def install(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run it with the system's own programs."""
    return subprocess.run(
        [INSTALL_MYSQL, *arguments], env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False
    )


def test_a_complete_installation_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mysql" / "bin").mkdir(parents=True)
    (tmp_path / "mysql" / "bin" / "mysqld").write_text("#!/bin/sh\n")
    (tmp_path / "mysql" / "bin" / "mysqld").chmod(0o755)
    (tmp_path / "mysql" / "version").write_text("9.7.4\n")
    run = install(tmp_path / "mysql")
    assert (run.returncode, run.stdout, run.stderr) == (0, f"{tmp_path}/mysql/bin\n", "")


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("precious")
    run = install(tmp_path)
    assert run.returncode == 1
    assert f"{tmp_path} is in use for something else" in run.stderr
    assert (tmp_path / "thesis.tex").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ([], "usage: deploy/install-mysql FOLDER"),
        (["/"], "must be neither / nor contain blanks or colons"),
        (["a folder"], "must be neither / nor contain blanks or colons"),
        (["/a:b"], "must be neither / nor contain blanks or colons"),
    ],
)
def test_what_it_cannot_do_it_says(arguments: list[str], remedy: str) -> None:
    run = install(*arguments)
    assert (run.returncode, run.stdout) == (1, "")
    assert remedy in run.stderr
