"""What ends a quickstart and what does not: lost servers, a lost core, a crawl that stands still."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from deploy.cluster import quickstart
from deploy.cluster.command import end
from deploy.cluster.options import parse
from deploy.cluster.processes import Child, ProcessFailed, Program
from deploy.cluster.quickstart import Quickstart
from deploy.cluster.watching import CrawlFailed, Snapshot
from worker.client import CoordinatorUnreachableError


class Stop(Exception):  # noqa: N818 - what a caller raises to give up
    """Raised by a pause."""


@dataclass
class Processes:
    """Stands for a cluster: the core and the servers, which are real processes here."""

    folder: Path
    core: list[Child] = field(default_factory=list)
    servers: dict[str, Child] = field(default_factory=dict)

    def start(self, name: str, code: str) -> Child:
        """A Python program as one of the processes; one that ends at once has ended."""
        command = [sys.executable, "-c", code]
        child = Child(Program(name, command, self.folder / f"{name}.log"), self.folder)
        while "raise" in code and child.status is None:
            time.sleep(0.02)  # polls: another process gives no sign
        return child

    def end(self) -> None:
        """End all of them."""
        for child in [*self.core, *self.servers.values()]:
            child.kill()


@dataclass
class Remarks:
    """Progress that keeps what it is told."""

    remarks: list[str] = field(default_factory=list)

    def step(self, doing: str) -> AbstractContextManager[None]:
        """Nothing."""
        return nullcontext()

    def remark(self, text: str) -> None:
        """Keep it."""
        self.remarks.append(text)

    def show(self, snapshot: Snapshot) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


class Unreachable:
    """A coordinator that does not answer."""

    def look(self) -> Snapshot:
        """Not to be had."""
        raise CoordinatorUnreachableError("no answer")


@dataclass
class Bench:
    """A quickstart on processes of the test's own, whose pause gives up after a few turns."""

    processes: Processes
    progress: Remarks = field(default_factory=Remarks)
    turns: int = 0

    def quickstart(self) -> Quickstart:
        """The one under test."""
        return Quickstart(self.processes, [], parse([]), self.progress, self.pause)  # type: ignore[arg-type]  # a double

    def pause(self, _: float) -> None:
        """Give up in the fourth turn."""
        self.turns += 1
        if self.turns > 3:
            raise Stop


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A bench without processes."""
    return Bench(Processes(tmp_path))


ENDS = "raise SystemExit('the last word')"
STAYS = "import time; time.sleep(600)"


def test_a_lost_server_is_told_once_and_the_others_go_on(bench: Bench) -> None:
    bench.processes.servers = {name: bench.processes.start(name, code) for name, code in (("a", ENDS), ("b", STAYS))}
    with pytest.raises(Stop):
        bench.quickstart().keep()
    bench.processes.end()
    assert len(bench.progress.remarks) == 1
    assert bench.progress.remarks[0].startswith("a ended with status 1.")
    assert "the last word" in bench.progress.remarks[0]


def test_without_any_server_nothing_can_go_on(bench: Bench) -> None:
    bench.processes.servers = {name: bench.processes.start(name, ENDS) for name in ("a", "b")}
    with pytest.raises(ProcessFailed, match="b ended with status 1"):
        bench.quickstart().keep()
    bench.processes.end()


def test_without_the_database_or_the_coordinator_nothing_can_go_on(bench: Bench) -> None:
    bench.processes.core = [bench.processes.start("mysql", ENDS)]
    bench.processes.servers = {"a": bench.processes.start("a", STAYS)}
    with pytest.raises(ProcessFailed, match="mysql ended with status 1"):
        bench.quickstart().keep()
    bench.processes.end()


def test_a_crawl_that_stands_still_is_given_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quickstart, "STALL_SECONDS", 0.0)
    with pytest.raises(CrawlFailed, match="Nothing has advanced"):
        bench.quickstart().await_crawls(Unreachable())  # type: ignore[arg-type]  # it has the one method that is used
    assert bench.progress.remarks == ["the coordinator cannot be asked at the moment: no answer"]


class Deaf(Remarks):
    """A terminal that has been closed."""

    def step(self, doing: str) -> AbstractContextManager[None]:
        """Fail as a write to it does."""
        raise OSError(5, "Input/output error")


@dataclass
class Stoppable:
    """A cluster that can be stopped."""

    stopped: bool = False

    def stop(self) -> None:
        """Note it."""
        self.stopped = True


def test_a_closed_terminal_keeps_nothing_alive() -> None:
    cluster = Stoppable()
    with pytest.raises(OSError, match="Input/output"):
        end(cluster, Deaf())  # type: ignore[arg-type]  # it has the one method that is used
    assert cluster.stopped
