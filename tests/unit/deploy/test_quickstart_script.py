"""The command around the cluster: what it does before there is an environment, when interrupted, and `down`."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from deploy.cluster.leftovers import note, started_at

DEPLOY = Path(__file__).parents[3] / "deploy"
DEADLINE_SECONDS = 20.0
PREPARES_AT_ONCE = "#!/bin/sh\necho /the/programs\n"
PREPARES_FOR_EVER = """#!/bin/sh
sleep 600 &
echo $! >.local/busy.new
mv .local/busy.new .local/busy
wait
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the command, the modules that it needs by itself, and a bootstrap of the test's own."""
    folder = tmp_path / "checkout"
    (folder / "deploy" / "cluster").mkdir(parents=True)
    for name in ("quickstart", "__init__.py", "cluster/__init__.py", "cluster/options.py", "cluster/leftovers.py"):
        shutil.copy(DEPLOY / name, folder / "deploy" / name)
    write_program(folder / "deploy" / "bootstrap", PREPARES_AT_ONCE)
    return folder


def write_program(file: Path, text: str) -> None:
    """An executable file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(0o755)


def environment() -> dict[str, str]:
    """Ours, with the Python of this test run first."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


def quickstart(checkout: Path, *words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run it to its end."""
    command = [checkout / "deploy" / "quickstart", *words]
    return subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, text=True, check=False, timeout=60)


def begin(checkout: Path) -> "subprocess.Popen[str]":
    """Start it with a bootstrap that takes for ever, and wait until that is busy."""
    write_program(checkout / "deploy" / "bootstrap", PREPARES_FOR_EVER)
    process = subprocess.Popen(
        [checkout / "deploy" / "quickstart"], env=environment(), stderr=subprocess.PIPE, text=True
    )
    until((checkout / ".local" / "busy").exists)
    return process


def until(holds: Callable[[], bool]) -> None:
    """Wait for something that other processes do. Fails after the deadline."""
    ends_at = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < ends_at, "it did not come to be in time"
        time.sleep(0.02)  # polls: another process gives no sign


def test_it_prepares_the_machine_and_becomes_the_cluster(checkout: Path) -> None:
    write_program(
        checkout / ".venv" / "bin" / "python", f'#!/bin/sh\ncase "$1" in -c) exec {sys.executable} "$@" ;; esac\n'
    )
    with (checkout / ".venv" / "bin" / "python").open("a") as python:
        python.write('case "$2" in *options) exit ;; esac\necho "MYSQL_BIN=$MYSQL_BIN" "$@"\n')
    run = quickstart(checkout, "--servers", "2")
    assert run.returncode == 0, run.stderr
    assert run.stdout == "MYSQL_BIN=/the/programs -m deploy.cluster --servers 2\n"


@pytest.mark.parametrize(
    ("words", "status", "told"), [(["--servers", "0"], 2, "must be a whole number"), (["--help"], 0, "")]
)
def test_options_are_judged_before_anything_is_done(checkout: Path, words: list[str], status: int, told: str) -> None:
    run = quickstart(checkout, *words)
    assert run.returncode == status
    assert told in run.stderr
    assert not (checkout / ".local").exists()


def test_a_machine_that_cannot_be_prepared_ends_it(checkout: Path) -> None:
    write_program(checkout / "deploy" / "bootstrap", "#!/bin/sh\necho 'python3-venv is missing' >&2\nexit 1\n")
    run = quickstart(checkout)
    assert run.returncode == 1
    assert "python3-venv is missing" in run.stderr
    assert "the machine could not be prepared" in run.stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_while_preparing_ends_all_that_was_started(
    checkout: Path, number: signal.Signals, status: int
) -> None:
    with begin(checkout) as process:
        busy = int((checkout / ".local" / "busy").read_text())
        process.send_signal(number)
        assert process.wait(DEADLINE_SECONDS) == status
    until(lambda: started_at(busy) is None)


def test_a_closed_terminal_keeps_nothing_alive(checkout: Path) -> None:
    with begin(checkout) as process:
        busy = int((checkout / ".local" / "busy").read_text())
        assert process.stderr is not None
        process.stderr.close()
        process.send_signal(signal.SIGHUP)
        assert process.wait(DEADLINE_SECONDS) == 129
    until(lambda: started_at(busy) is None)


def test_it_runs_once_in_a_checkout(checkout: Path) -> None:
    with begin(checkout) as process:
        second = quickstart(checkout)
        assert second.returncode == 1
        assert "it runs already in this checkout" in second.stderr
        process.terminate()


def test_down_ends_one_that_runs_and_what_an_earlier_one_left(checkout: Path) -> None:
    with begin(checkout) as process, subprocess.Popen(["sleep", "600"], start_new_session=True) as left:
        note(checkout / ".local" / "quickstart" / "run", "mysql", left.pid)
        run = quickstart(checkout, "down")
        assert run.returncode == 0, run.stderr
        assert (process.wait(DEADLINE_SECONDS), left.wait(DEADLINE_SECONDS)) == (143, -signal.SIGTERM)
    assert f"stopped quickstart (process {process.pid})\nstopped mysql (process {left.pid})\n" in run.stdout
    assert not (checkout / ".local" / "quickstart").exists()


def test_down_removes_what_the_quickstart_made_and_nothing_else(checkout: Path) -> None:
    (checkout / ".local" / "mysql").mkdir(parents=True)
    makes_an_environment = "#!/bin/sh\nmkdir -p .venv/bin\nexit 1\n"
    write_program(checkout / "deploy" / "bootstrap", makes_an_environment)
    quickstart(checkout)
    run = quickstart(checkout, "down")
    assert run.stdout == "removed .venv\nremoved .local/quickstart\nleft .local/mysql, which was here before\n"
    assert not (checkout / ".venv").exists()
    assert (checkout / ".local" / "mysql").exists()


def test_down_leaves_no_folder_of_its_own_behind(checkout: Path) -> None:
    write_program(
        checkout / "deploy" / "bootstrap", "#!/bin/sh\nmkdir -p .local/mysql\n>.local/bootstrap.lock\nexit 1\n"
    )
    quickstart(checkout)
    assert quickstart(checkout, "down").returncode == 0
    assert not (checkout / ".local").exists()
    again = quickstart(checkout, "down")
    assert again.returncode == 1
    assert "there is nothing to remove" in again.stderr
