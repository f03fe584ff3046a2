"""Evidence for the readiness gate: which tests speak for a promise, how often each tried it, and what came of it.

A test marked ``@pytest.mark.scenario("initial election", "I1")`` speaks for one row of the gate's table; several tests
may speak for the same one. Each counts as one run, unless it says by the fixture ``evidence`` how many it made. With
``--evidence FILE`` the rows are written as JSON: ``[{name, invariant, runs, violations, tests, failed, facts}]``, anew
after each test: what was shown stays shown, whatever becomes of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

_PROPERTY = "evidence"


@dataclass
class Evidence:
    """What one test contributes: how many ``runs`` it made, and facts worth a place in the report."""

    runs: int = 0
    facts: dict[str, object] = field(default_factory=dict)

    def ran(self, times: int = 1) -> None:
        """Count further runs of what the test tries."""
        self.runs += times

    def fact(self, name: str, value: object) -> None:
        """Remember a measured figure (a JSON value), such as the seconds until work went on."""
        self.facts[name] = value


@pytest.fixture
def evidence(record_property: pytest.FixtureRequest) -> Iterator[Evidence]:
    """Counts the runs of a test that makes several."""
    made = Evidence()
    yield made
    record_property(_PROPERTY, json.dumps(asdict(made)))  # type: ignore[operator]  # pytest hands out a function


@dataclass
class Row:
    """One line of the gate's table."""

    name: str
    invariant: str
    runs: int = 0
    violations: int = 0
    tests: int = 0
    failed: list[str] = field(default_factory=list)
    facts: dict[str, object] = field(default_factory=dict)


class Collector:
    """Adds up what the tests of a run say; in the process that distributes them, if they are distributed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._rows: dict[tuple[str, str], Row] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count the end of a test, and failures while it was set up or taken down."""
        counted = report.when == "teardown" or report.failed
        scenarios = _properties(report, "scenario") if counted else []
        for scenario in scenarios:
            self._count(report, scenario["name"], scenario["invariant"])
        if scenarios:
            self._write()

    def pytest_sessionfinish(self) -> None:
        """Write the rows, also when there are none."""
        self._write()

    def _write(self) -> None:
        """Replace the file at once: whoever reads it meanwhile finds it whole."""
        unfinished = self._file.with_name(f"{self._file.name}.unfinished")
        unfinished.write_text(json.dumps([asdict(row) for row in self._rows.values()], indent=2), "utf-8")
        unfinished.replace(self._file)

    def _count(self, report: pytest.TestReport, name: str, invariant: str) -> None:
        row = self._rows.setdefault((name, invariant), Row(name, invariant))
        if report.failed:
            row.violations += 1
            row.failed.append(report.nodeid)
        if report.when == "teardown":
            row.tests += 1
            told = _properties(report, _PROPERTY)
            row.runs += max(1, sum(each["runs"] for each in told))
            for each in told:
                _remember(row.facts, each["facts"])


def _remember(known: dict[str, object], told: dict[str, object]) -> None:
    """Add facts; what several tests measured under one name becomes a list."""
    for name, value in told.items():
        before = known.get(name, [])
        known[name] = [*(before if isinstance(before, list) else [before]), value] if name in known else value


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--evidence FILE``."""
    parser.addoption("--evidence", type=Path, metavar="FILE", help="write what the scenarios came to as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Make the marks known; collect where a file is asked for."""
    config.addinivalue_line("markers", "scenario(name, invariant): the test speaks for that row of the readiness gate")
    config.addinivalue_line("markers", "contract(section, sentence): what the specification says, and the test proves")
    config.addinivalue_line("markers", "race: many threads or processes at once; green ten times in a row")
    file = config.getoption("--evidence")
    if file is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(file), "evidence-collector")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the report of a test carry what it speaks for."""
    for mark in item.iter_markers("scenario"):
        name, invariant = mark.args
        item.user_properties.append(("scenario", json.dumps({"name": name, "invariant": invariant})))


def _properties(report: pytest.TestReport, name: str) -> list[dict]:  # type: ignore[type-arg]
    return [json.loads(str(value)) for key, value in report.user_properties if key == name]
