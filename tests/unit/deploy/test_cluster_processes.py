"""Children: told apart from what they leave behind, ended whatever happens, and reported by their last words."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.cluster import processes
from deploy.cluster.leftovers import started_at
from deploy.cluster.places import CHECKOUT
from deploy.cluster.processes import Child, ProcessFailed, Program

DEADLINE_SECONDS = 20.0
SLEEP = "import time; time.sleep(600)"
STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"
)
PARENT_OF_ONE = f"""
import subprocess, sys, time
print(subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).pid, flush=True)
time.sleep(600)
"""


class Stop(Exception):  # noqa: N818 - what a caller raises to give up
    """Raised by a pause."""


def program(folder: Path, code: str, **settings: str) -> Program:
    """A Python program that logs into the folder."""
    return Program("sample", [sys.executable, "-c", code], folder / "sample.log", settings)


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that other processes do. Fails after the deadline."""
    ends_at = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < ends_at, "it did not come to be in time"
        time.sleep(0.02)  # polls: another process gives no sign


def said(folder: Path) -> str:
    """What the program has written so far."""
    return (folder / "sample.log").read_text()


def test_one_that_ends_is_reported_with_its_last_words(tmp_path: Path) -> None:
    child = Child(program(tmp_path, "print('first'); print('the last word'); raise SystemExit(3)"), tmp_path)
    until(lambda: child.status is not None)
    with pytest.raises(ProcessFailed, match=r"sample ended with status 3(.|\n)*first\n *the last word"):
        child.check()
    child.kill()


def test_one_that_is_not_ready_in_time_is_ended(tmp_path: Path) -> None:
    with pytest.raises(ProcessFailed, match=r"sample is not ready after 0.2 seconds"):
        processes.start(program(tmp_path, SLEEP), tmp_path, lambda: False, 0.2)
    assert not list(tmp_path.glob("*.pid"))


def test_one_whose_start_is_given_up_is_ended(tmp_path: Path) -> None:
    pids: list[int] = []

    def pause(_: float) -> None:
        pids.append(int((tmp_path / "sample.pid").read_text().split()[0]))
        raise Stop

    with pytest.raises(Stop):
        processes.start(program(tmp_path, SLEEP), tmp_path, lambda: False, 60, pause)
    assert started_at(pids[0]) is None


def test_one_that_does_not_heed_is_ended_by_force(tmp_path: Path) -> None:
    child = Child(program(tmp_path, STUBBORN), tmp_path)
    until(lambda: "ready" in said(tmp_path))
    child.stop(patience_seconds=0.2)
    assert child.status == -signal.SIGKILL


def test_who_is_in_a_hurry_does_not_wait_out_the_patience(tmp_path: Path) -> None:
    child = Child(program(tmp_path, STUBBORN), tmp_path)
    until(lambda: "ready" in said(tmp_path))
    child.stop(patience_seconds=3600, hurry=lambda: True)
    assert child.status == -signal.SIGKILL


def test_its_children_end_with_it(tmp_path: Path) -> None:
    child = Child(program(tmp_path, PARENT_OF_ONE), tmp_path)
    until(lambda: said(tmp_path).endswith("\n"))
    grandchild = int(said(tmp_path))
    child.stop()
    until(lambda: started_at(grandchild) is None)


def test_a_paused_one_can_be_resumed_and_stopped(tmp_path: Path) -> None:
    child = Child(program(tmp_path, "import signal; signal.pause()"), tmp_path)

    def state() -> str:
        return Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0]

    child.pause()
    until(lambda: state() == "T")
    child.resume()
    until(lambda: state() != "T")
    child.pause()
    child.stop()
    assert child.status == -signal.SIGTERM


def test_it_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from deploy.cluster.processes import Child, Program
child = Child(Program("orphan", ["sleep", "600"], Path({str(tmp_path)!r}, "orphan.log")), Path({str(tmp_path)!r}))
print(child.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
    with parent:
        assert parent.stdout is not None
        orphan = int(parent.stdout.readline())
        # Not before it has become what it was started as: then it has also asked the kernel for this.
        until(lambda: Path(f"/proc/{orphan}/comm").read_text() == "sleep\n")
        parent.kill()
    until(lambda: started_at(orphan) is None)


def test_settings_of_another_cluster_are_kept_from_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("COORDINATOR_CONFIGURATION", "WORKER_SERVER_ID", "ENVIRONMENT"):
        monkeypatch.setenv(name, "somebody else's")
    code = "import os; print(sorted(n for n in os.environ if n.startswith(('COORDINATOR_', 'WORKER_', 'ENVIRON'))))"
    processes.run([program(tmp_path, code, WORKER_SERVER_ID="ours")], tmp_path, 20)
    assert said(tmp_path) == "['WORKER_SERVER_ID']\n"


def test_programs_run_side_by_side_and_none_is_left_when_one_fails(tmp_path: Path) -> None:
    fails = Program("fails", [sys.executable, "-c", "raise SystemExit('refused')"], tmp_path / "fails.log")
    with pytest.raises(ProcessFailed, match=r"fails ended with status 1(.|\n)*refused"):
        processes.run([fails, program(tmp_path, SLEEP)], tmp_path, 60)
    assert not list(tmp_path.glob("*.pid"))
    assert all(not command.startswith(f"{sys.executable}\0-c\0{SLEEP}") for command in commands_of_our_children())


def commands_of_our_children() -> list[str]:
    """The command lines of the processes that this one has started."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    return [Path(f"/proc/{pid}/cmdline").read_text() for pid in children]


def test_json_lines_are_shown_as_people_read_them(tmp_path: Path) -> None:
    line = '{"task_id": 7, "event": "task_acquired", "logger": "x", "timestamp": "2026-01-02T03:04:05.678Z"}'
    child = Child(program(tmp_path, f"print({line!r})"), tmp_path)
    until(lambda: child.status is not None)
    assert child.report("has ended").splitlines()[1:] == ["    03:04:05 task_acquired task_id=7"]
    child.kill()
