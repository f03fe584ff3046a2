"""Benchmarks measure and judge: each figure is printed at the end, next to the bound that it must keep.

They want an idle machine, so they run by ``tests/run bench`` and not in continuous integration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.cluster.cluster import Cluster
from tests.integration.mysql import programs

FIGURES = pytest.StashKey[list["Figure"]]()


@dataclass(frozen=True)
class Figure:
    """Something measured, and the most that it may be."""

    name: str
    value: float
    unit: str
    at_most: float

    @property
    def holds(self) -> bool:
        return self.value <= self.at_most

    def __str__(self) -> str:
        verdict = "at most" if self.holds else "NOT at most"
        return f"{self.name}: {self.value:.4g} {self.unit}, {verdict} {self.at_most:.4g} {self.unit}"


class Figures:
    """Where a benchmark reports what it measured."""

    def __init__(self, reported: list[Figure]) -> None:
        self._reported = reported

    def judge(self, name: str, value: float, unit: str, *, at_most: float) -> None:
        """Note a figure for the summary; fails when it exceeds its bound."""
        figure = Figure(name, value, unit, at_most)
        self._reported.append(figure)
        assert figure.holds, str(figure)


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """The run's figures."""
    return Figures(request.config.stash.setdefault(FIGURES, []))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster that has not started anything yet, and leaves nothing running."""
    folder = programs()
    if folder is None:
        pytest.skip("no MySQL 8.0.19 or later is installed: deploy/bootstrap installs a private one")
    with Cluster(tmp_path / "cluster", folder) as made:
        yield made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """List all figures, in the order in which they were measured."""
    for figure in config.stash.get(FIGURES, []):
        terminalreporter.write_line(str(figure))
