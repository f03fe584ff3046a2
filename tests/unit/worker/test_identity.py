"""One daemon per server_id on a machine, by a lock that dies with its process."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from worker.identity import Identity, ServerIdLockedError, hold, machine_id

HOLDER = """
import sys
from pathlib import Path
from worker.identity import hold
lock = hold("server-1", Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_process_is_refused_and_a_killed_one_frees_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            with pytest.raises(ServerIdLockedError, match="another daemon runs as server-1"):
                hold("server-1", tmp_path)
            hold("server-2", tmp_path).release()
        finally:
            holder.send_signal(signal.SIGKILL)
    hold("server-1", tmp_path).release()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerIdLockedError, match=r"state_folder: .*file"):
        hold("server-1", tmp_path / "file" / "state")


def test_each_start_is_a_boot_of_its_own() -> None:
    one, other = Identity.fresh("server-1"), Identity.fresh("server-1")
    assert one.boot_id != other.boot_id
    assert (one.server_id, one.machine_id) == (other.server_id, other.machine_id)
    assert one.machine_id == machine_id() != ""
