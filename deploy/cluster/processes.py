"""Child processes that are answered for: logged, noted, watched, and ended whatever happens to their parent."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deploy.cluster import leftovers
from deploy.cluster.interruption import Pause
from deploy.cluster.log_lines import LAST_LINES, last_lines
from deploy.cluster.places import CHECKOUT, shown

POLL_SECONDS = 0.05
STOP_SECONDS = 20.0
_OWN_SETTINGS = ("COORDINATOR_", "WORKER_", "MYSQL_", "ENVIRONMENT")


class ProcessFailed(Exception):  # noqa: N818 - a fact about the process
    """A process ended that should not have, or did not get ready; says which, and the last it had to say."""


@dataclass(frozen=True)
class Program:
    """What to run: its name for people, its words, settings on top of our environment, and where its output goes."""

    name: str
    command: Sequence[str]
    log: Path
    settings: Mapping[str, str] = field(default_factory=dict)


class Child:
    """A running program, in a session of its own: a terminal's Ctrl-C reaches it only through us.

    Should this process be killed, the kernel tells the child to end.
    """

    def __init__(self, program: Program, notes: Path) -> None:
        """Start ``program`` and note it in the folder ``notes``. Raises ``OSError``."""
        self.program = program
        program.log.parent.mkdir(parents=True, exist_ok=True)
        with program.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - commands are this package's own
                ["/usr/bin/setpriv", "--pdeathsig", "TERM", "--", *program.command],
                cwd=CHECKOUT,
                env=_environment(program.settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._note = leftovers.note(notes, program.name, self.pid)

    @property
    def name(self) -> str:
        """The program's name."""
        return self.program.name

    @property
    def pid(self) -> int:
        """Its process id, which is its session's and its group's too."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """None while it runs, then its exit status, negative for the signal that ended it."""
        return self._process.poll()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process, not to its children; nothing happens when it has ended."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """End it and its children at once, as a power cut would."""
        self._signal_group(signal.SIGKILL)
        self._process.wait()
        self._note.unlink(missing_ok=True)

    def pause(self) -> None:
        """Stop it in its tracks, as a machine that hangs would."""
        self._signal_group(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on after a pause."""
        self._signal_group(signal.SIGCONT)

    def stop(self, patience_seconds: float = STOP_SECONDS, hurry: Callable[[], bool] = lambda: False) -> None:
        """Ask it to end and wait until it has; after the patience, or when ``hurry()``, end it by force."""
        stop([self], patience_seconds, hurry)

    def await_end(self, seconds: float, pause: Pause = time.sleep) -> None:
        """Wait until it has ended well. Raises ``ProcessFailed`` for a status other than 0, or when time is over."""
        ends_at = time.monotonic() + seconds
        while self.status is None:
            if time.monotonic() > ends_at:
                raise ProcessFailed(self.report(f"has not ended after {seconds:g} seconds"))
            pause(POLL_SECONDS)
        self._note.unlink(missing_ok=True)
        if self.status:
            self.check()

    def check(self) -> None:
        """Raises ``ProcessFailed`` with the last lines of its log when it no longer runs."""
        if self.status is not None:
            raise ProcessFailed(self.report(self.how_it_ended()))

    def how_it_ended(self) -> str:
        """In words for people; of one that runs, that it does."""
        if self.status is None:
            return "runs"
        if self.status < 0:
            return f"was ended by {signal.Signals(-self.status).name}"
        return f"ended with status {self.status}"

    def report(self, what: str, count: int = LAST_LINES) -> str:
        """A sentence about it for people, with the last lines of its log."""
        lines = "\n".join(f"    {line}" for line in last_lines(self.program.log, count))
        return f"{self.name} {what}. The last lines of {shown(self.program.log)}:\n{lines}"

    def _signal_group(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return


def start(program: Program, notes: Path, ready: Callable[[], bool], seconds: float, pause: Pause = time.sleep) -> Child:
    """Start a program and wait until it is ready.

    Raises ``ProcessFailed`` when it ends first or the time is over, and what ``pause`` raises; then nothing runs.
    """
    child = Child(program, notes)
    ends_at = time.monotonic() + seconds
    try:
        while not ready():
            child.check()
            if time.monotonic() > ends_at:
                raise ProcessFailed(child.report(f"is not ready after {seconds:g} seconds"))
            pause(POLL_SECONDS)
    except BaseException:
        child.kill()
        raise
    return child


def stop(
    children: Sequence[Child], patience_seconds: float = STOP_SECONDS, hurry: Callable[[], bool] = lambda: False
) -> None:
    """Ask children to end, all at once, and wait until they have; then end by force what is left of them."""
    for child in children:
        child.send(signal.SIGTERM)
        child.resume()
    ends_at = time.monotonic() + patience_seconds
    while any(child.status is None for child in children) and time.monotonic() < ends_at and not hurry():
        time.sleep(POLL_SECONDS)
    for child in children:
        child.kill()


def run(programs: Iterable[Program], notes: Path, seconds: float, pause: Pause = time.sleep) -> None:
    """Run programs side by side, each to its end.

    Raises ``ProcessFailed`` for the first that does not end well, and what ``pause`` raises; leaves nothing running.
    """
    children: list[Child] = []
    try:
        children += (Child(program, notes) for program in programs)
        for child in children:
            child.await_end(seconds, pause)
    finally:
        for child in children:
            child.kill()


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Ours, without settings meant for another coordinator or worker of this user."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(_OWN_SETTINGS)}
    return {**ours, "PYTHONUNBUFFERED": "1", **settings}
