"""A test that did not run counts as a failure under continuous integration, and is listed as not run elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
SKIPPED_TEST = """
import pytest

@pytest.mark.skip(reason="no such server here")
def test_something():
    pass
"""
SKIPPED_FIXTURE = """
import pytest

@pytest.fixture
def server():
    pytest.skip("no such server here")

def test_something(server):
    pass
"""
SKIPPED_MODULE = """
import pytest

pytest.skip("no such server here", allow_module_level=True)
"""


def outcome(folder: Path, module: str, ci: str) -> tuple[int, str]:
    """Exit status and output of a pytest run of its own on ``module``, with this project's conftest as a plugin."""
    (folder / "test_module.py").write_text(module)
    (folder / "pytest.ini").write_text("[pytest]\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-ra", "-p", "tests.conftest", "-p", "no:cacheprovider", str(folder)],
        cwd=folder,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(CHECKOUT), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return run.returncode, run.stdout


@pytest.mark.parametrize("module", [SKIPPED_TEST, SKIPPED_FIXTURE, SKIPPED_MODULE])
def test_ci_fails_on_a_test_that_did_not_run(tmp_path: Path, module: str) -> None:
    status, output = outcome(tmp_path, module, ci="true")
    assert status != 0, output
    assert "not run, which counts as a failure when CI=true" in output
    assert "no such server here" in output


@pytest.mark.parametrize("module", [SKIPPED_TEST, SKIPPED_FIXTURE])
def test_elsewhere_it_is_listed_with_its_reason(tmp_path: Path, module: str) -> None:
    status, output = outcome(tmp_path, module, ci="")
    assert status == 0, output
    assert "1 skipped" in output
    assert "no such server here" in output
