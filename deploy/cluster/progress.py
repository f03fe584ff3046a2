"""What a quickstart tells while it runs: steps, remarks, and how far the crawl is; here in plain lines."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

from deploy.cluster.watching import Pace, Snapshot

LINE_SECONDS = 5.0


@dataclass(frozen=True)
class Goal:
    """What there is to crawl; ``sizes`` are listings by marketplace code and account reference."""

    sizes: Mapping[tuple[str, str], int]

    @property
    def accounts(self) -> int:
        """How many accounts there are."""
        return len(self.sizes)

    @property
    def listings(self) -> int:
        """How many listings they have."""
        return sum(self.sizes.values())


class Progress(Protocol):
    """Tells people what is done."""

    def step(self, doing: str) -> AbstractContextManager[None]:
        """Tell that something is being done and, when the block is left well, that it is."""

    def remark(self, text: str) -> None:
        """Tell something that happened on the way."""

    def show(self, snapshot: Snapshot) -> None:
        """Show how far the crawl is."""

    def close(self) -> None:
        """Show nothing live any more."""


class PlainProgress:
    """A line for each step, and one every few seconds for the crawl: for logs and pipes."""

    def __init__(self, goal: Goal, write: Callable[[str], None]) -> None:
        self._goal = goal
        self._write = write
        self._pace = Pace()
        self._told_at = float("-inf")

    @contextmanager
    def step(self, doing: str) -> Iterator[None]:
        """A line when it is done, with the seconds that it took."""
        began = time.monotonic()
        yield
        self._write(f"{doing} ({time.monotonic() - began:.1f} s)")

    def remark(self, text: str) -> None:
        """A line."""
        self._write(text)

    def show(self, snapshot: Snapshot) -> None:
        """A line, unless there was one a moment ago."""
        now = time.monotonic()
        self._pace.learn(now, snapshot.records)
        if now - self._told_at >= LINE_SECONDS:
            self._told_at = now
            self._write(_line(snapshot, self._goal, self._pace.per_second))

    def close(self) -> None:
        """Nothing: lines stay."""


def leading(snapshot: Snapshot) -> str:
    """Who leads, in words."""
    if snapshot.leader_server_id is None:
        return "no leader yet"
    return f"leader {snapshot.leader_server_id}, term {snapshot.term}"


def to_go(snapshot: Snapshot, goal: Goal, per_second: float) -> str:
    """How long the rest takes at this pace, in words."""
    if snapshot.accounts_crawled == goal.accounts:
        return "done"
    left = max(goal.listings - snapshot.records, 0)
    return f"about {clock(left / per_second)} to go" if per_second else "no pace yet"


def clock(seconds: float) -> str:
    """Minutes and seconds, as 1:05."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _line(snapshot: Snapshot, goal: Goal, per_second: float) -> str:
    slots = ", ".join(f"{server.server_id} {server.running}/{server.slots}" for server in snapshot.servers)
    return (
        f"{snapshot.accounts_crawled}/{goal.accounts} accounts, {snapshot.records:,}/{goal.listings:,} listings,"
        f" {per_second:,.0f} rows/s, {to_go(snapshot, goal, per_second)};"
        f" {leading(snapshot)}; slots: {slots or 'no server yet'}"
    )
