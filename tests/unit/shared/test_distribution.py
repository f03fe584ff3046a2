"""Our import names are generic: a package of another project that comes first is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared.distribution import ForeignImportError, assert_ours

CHECKOUT = Path(__file__).parents[3]
ASK = """
import importlib.util, sys
sys.path[:0] = [sys.argv[2]]
spec = importlib.util.spec_from_file_location("asked", sys.argv[1])
asked = importlib.util.module_from_spec(spec)
spec.loader.exec_module(asked)
import shared
try:
    asked.assert_ours("worker", "shared")
except asked.ForeignImportError as error:
    print(error)
else:
    print("ours")
"""


def asked_with(first: Path) -> str:
    """What a process says that looks for packages in a folder first."""
    command = [sys.executable, "-c", ASK, str(CHECKOUT / "shared" / "distribution.py"), str(first)]
    return subprocess.run(command, cwd=first, capture_output=True, text=True, check=True).stdout.strip()


def test_ours_are_ours(tmp_path: Path) -> None:
    assert_ours("coordinator", "worker", "shared")
    assert asked_with(tmp_path) == "ours"


@pytest.mark.parametrize("file", ["shared/__init__.py", "shared.py"])
def test_a_foreign_package_that_comes_first_is_refused(tmp_path: Path, file: str) -> None:
    foreign = tmp_path / file
    foreign.parent.mkdir(exist_ok=True)
    foreign.touch()
    said = asked_with(tmp_path)
    assert said.startswith(f"package shared was imported from {foreign}, but distributed-marketplace-processing has it")
    assert "start Python with -P" in said


def test_a_folder_that_is_no_package_of_ours_is_refused() -> None:
    with pytest.raises(ForeignImportError, match="package no_such_package was imported from None"):
        assert_ours("no_such_package")


@pytest.mark.parametrize("program", ["coordinator", "worker"])
def test_a_program_names_the_foreign_package_before_it_uses_it(tmp_path: Path, program: str) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "__init__.py").touch()
    script = Path(sys.executable).with_name(program)
    ended = subprocess.run(
        [script, "check"], cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: ")
    assert str(tmp_path / "shared" / "__init__.py") in ended.stderr
