"""What an earlier run left running, because it was itself killed: known by notes of process id and start time.

It needs nothing but the standard library, so that ``deploy/quickstart down`` works without an environment.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.05
_START_TIME_FIELD = 19  # of /proc/PID/stat behind the command's name, see proc_pid_stat(5)


@dataclass(frozen=True)
class Leftover:
    """A process by id and start time in clock ticks: ids are given again, such a pair never is."""

    name: str
    pid: int
    start_time: int

    def runs(self) -> bool:
        """Whether it is still there."""
        return started_at(self.pid) == self.start_time

    def send(self, number: signal.Signals) -> None:
        """Send a signal, to its children too where it leads a session, as all do that the quickstart starts."""
        if not self.runs():
            return
        try:
            if os.getsid(self.pid) == self.pid:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            return


def started_at(pid: int) -> int | None:
    """When a process began, in clock ticks since the machine did; None where there is none or only its corpse."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[_START_TIME_FIELD])


def note(folder: Path, name: str, pid: int) -> Path:
    """Write down that ``pid`` is the process called ``name``; whoever ends it removes the note."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.pid"
    file.write_text(f"{pid} {started_at(pid)}\n")
    return file


def find(folder: Path) -> list[Leftover]:
    """The processes noted in a folder that still run."""
    found = (_read(file) for file in sorted(folder.glob("*.pid")))
    return [leftover for leftover in found if leftover is not None and leftover.runs()]


def stop(folder: Path, patience_seconds: float = PATIENCE_SECONDS) -> list[str]:
    """End every process noted in a folder, all at once, by force after the patience; returns their names."""
    running = find(folder)
    _end(running, patience_seconds)
    for file in folder.glob("*.pid"):
        file.unlink()
    return [f"{each.name} (process {each.pid})" for each in running]


def _read(file: Path) -> Leftover | None:
    words = file.read_text().split()
    if len(words) != 2 or not all(word.isdecimal() for word in words):
        return None
    return Leftover(file.stem, int(words[0]), int(words[1]))


def _end(processes: Sequence[Leftover], patience_seconds: float) -> None:
    for each in processes:
        each.send(signal.SIGTERM)
    ends_at = time.monotonic() + patience_seconds
    while any(each.runs() for each in processes):
        if time.monotonic() > ends_at:
            for each in processes:
                each.send(signal.SIGKILL)
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    for notes in map(Path, sys.argv[1:]):
        for stopped in stop(notes):
            sys.stdout.write(f"stopped {stopped}\n")
