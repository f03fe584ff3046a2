"""What scenarios say of themselves reaches the file that the gate reads, whatever becomes of the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest

@pytest.mark.scenario("one", "I1")
def test_counts_its_runs(evidence):
    evidence.ran(3)
    evidence.fact("seconds", 1.5)

@pytest.mark.scenario("one", "I1")
def test_is_one_run():
    pass

@pytest.mark.scenario("measured", "I3")
@pytest.mark.parametrize("seconds", [3, 1, 2])
def test_measures(evidence, seconds):
    evidence.fact("seconds_to_resume", seconds)

@pytest.mark.scenario("two", "I2")
def test_fails(evidence):
    evidence.ran(2)
    raise AssertionError("broken")

@pytest.fixture
def broken():
    raise RuntimeError("no database")

@pytest.mark.scenario("two", "I2")
def test_cannot_begin(broken):
    pass

def test_speaks_for_nothing():
    pass
"""


def test_rows_add_up_over_processes(tmp_path: Path) -> None:
    (tmp_path / "test_scenarios.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    for processes in ([], ["--numprocesses=2"]):
        file = tmp_path / "rows.json"
        words = [sys.executable, "-m", "pytest", "-q", f"--rootdir={tmp_path}", f"--evidence={file}", *processes]
        environment = {**os.environ, "PYTHONPATH": str(CHECKOUT), "CI": "false", "PYTEST_ADDOPTS": ""}
        ran = subprocess.run(
            [*words, str(tmp_path)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        rows = {row["name"]: row for row in json.loads(file.read_text())} if file.exists() else {}
        assert ran.returncode == 1, ran.stdout + ran.stderr
        assert {name: (row["runs"], row["violations"], row["tests"]) for name, row in rows.items()} == {
            "one": (4, 0, 2),
            "two": (3, 2, 2),
            "measured": (3, 0, 3),
        }, ran.stdout
        assert rows["one"]["facts"] == {"seconds": 1.5}
        assert sorted(rows["measured"]["facts"]["seconds_to_resume"]) == [1, 2, 3]
        assert {name.split("::")[1] for name in rows["two"]["failed"]} == {"test_fails", "test_cannot_begin"}


KILLED = """
import os, signal
import pytest

@pytest.mark.scenario("one", "I1")
def test_passes(evidence):
    evidence.ran(3)

@pytest.mark.scenario("one", "I1")
def test_ends_everything():
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_was_shown_stays_when_the_run_is_killed(tmp_path: Path) -> None:
    (tmp_path / "test_scenarios.py").write_text(KILLED)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    file = tmp_path / "rows.json"
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", f"--rootdir={tmp_path}", f"--evidence={file}", str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "CI": "false", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        check=False,
    )
    assert ran.returncode == -9
    (row,) = json.loads(file.read_text())
    assert (row["name"], row["runs"], row["tests"]) == ("one", 3, 1)
