"""What holds for every test: under continuous integration a test that did not run is a failure."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

from tests.evidence import evidence, pytest_addoption, pytest_configure, pytest_runtest_setup

__all__ = ["evidence", "pytest_addoption", "pytest_configure", "pytest_runtest_setup"]

_CONTINUOUS_INTEGRATION = os.environ.get("CI") == "true"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where every test has to run (``CI=true``); elsewhere it stays listed as not run."""
    report = yield
    if _CONTINUOUS_INTEGRATION and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"not run, which counts as a failure when CI=true: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole module that skips itself while it is collected."""
    report = yield
    if _CONTINUOUS_INTEGRATION and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"not run, which counts as a failure when CI=true: {report.longrepr}"
    return report
