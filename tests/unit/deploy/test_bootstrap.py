"""What bootstrap says on a machine that lacks something, before it has changed anything."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).parents[3] / "deploy" / "bootstrap"
WITHOUT_VENV = f"""#!/bin/sh
case "$2" in *ensurepip*) exit 1 ;; esac
exec {sys.executable} "$@"
"""
TOO_OLD = "#!/bin/sh\nexit 1\n"


def bootstrap(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    """Run it in a new checkout at ``folder``, on a machine whose only Python is the script ``python``."""
    (folder / "deploy").mkdir(parents=True)
    shutil.copy(BOOTSTRAP, folder / "deploy")
    machine = folder.parent / "bin"
    machine.mkdir()
    for name in ("bash", "dirname", "readlink", "mkdir", "flock", "grep", "sha256sum"):
        found = shutil.which(name)
        assert found is not None, f"this machine has no {name}"
        (machine / name).symlink_to(found)
    (machine / "python3").write_text(python)
    (machine / "python3").chmod(0o755)
    return subprocess.run(
        [folder / "deploy" / "bootstrap"], env={"PATH": str(machine)}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("python", "remedy"),
    [
        (WITHOUT_VENV, "python3 cannot make environments. As root: apt-get install python3-venv"),
        (TOO_OLD, "Python 3.11 or later is needed. As root: apt-get install python3 python3-venv"),
    ],
)
def test_it_says_what_to_install(tmp_path: Path, python: str, remedy: str) -> None:
    run = bootstrap(tmp_path / "checkout", python)
    assert run.returncode != 0
    assert run.stdout == ""
    assert remedy in run.stderr
    assert not (tmp_path / "checkout" / ".venv").exists()


def test_it_refuses_a_path_that_its_programs_cannot_have(tmp_path: Path) -> None:
    run = bootstrap(tmp_path / "a folder", WITHOUT_VENV)
    assert run.returncode != 0
    assert "must not contain blanks or colons" in run.stderr
