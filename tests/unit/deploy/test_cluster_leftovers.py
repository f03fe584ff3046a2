"""What an earlier run left is known by process id and start time, so that nobody else's process is ended."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from deploy.cluster import leftovers


def sleeper() -> "subprocess.Popen[bytes]":
    """A process that would go on for long, in a session of its own."""
    return subprocess.Popen(["sleep", "600"], start_new_session=True)


def test_what_is_noted_is_ended_and_named(tmp_path: Path) -> None:
    with sleeper() as process:
        leftovers.note(tmp_path, "mysql", process.pid)
        assert leftovers.stop(tmp_path) == [f"mysql (process {process.pid})"]
        assert process.wait() == -signal.SIGTERM
    assert not list(tmp_path.iterdir())


def test_one_that_does_not_heed_is_ended_by_force(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        leftovers.note(tmp_path, "stubborn", process.pid)
        leftovers.stop(tmp_path, patience_seconds=0.1)
        assert process.wait() == -signal.SIGKILL


def test_a_process_that_got_the_same_id_later_is_left_alone(tmp_path: Path) -> None:
    with sleeper() as process:
        start_time = leftovers.started_at(process.pid)
        assert start_time is not None
        (tmp_path / "mysql.pid").write_text(f"{process.pid} {start_time - 1}\n")
        assert leftovers.stop(tmp_path) == []
        assert process.poll() is None
        process.kill()
    assert not list(tmp_path.iterdir())


def test_notes_that_say_nothing_are_removed(tmp_path: Path) -> None:
    (tmp_path / "cut-short.pid").write_text("")
    (tmp_path / "gone.pid").write_text(f"{os.getpid()} None\n")
    assert leftovers.stop(tmp_path) == []
    assert not list(tmp_path.iterdir())
