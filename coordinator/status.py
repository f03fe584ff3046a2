"""Status: how the cluster stands, for people; read without locks, so its parts may be some statements apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from coordinator import fleet, leadership
from coordinator.database import Transaction
from coordinator.leadership import Leadership
from shared.policy import Policy
from shared.states import TaskState

AHEAD_TOLERANCE_SECONDS = 5
# Data may be twice as old as its refresh interval before it is late: a crawl takes its time, and so does the queue.
LATE_AFTER_INTERVALS = 2


@dataclass(frozen=True)
class Freshness:
    """How many accounts there are by the age of their data; paused ones are only counted.

    On time: crawled within the refresh interval. Catching up: not yet twice as old, or never crawled and not yet that
    long known. Late: older. Action required: suspended, its credentials are bad.
    """

    on_time: int
    catching_up: int
    late: int
    action_required: int
    paused: int


@dataclass(frozen=True)
class InstantAhead:
    """A stored instant in the future, which no clock that is only slewed can have written: an alarm."""

    column: str
    instant: datetime
    seconds_ahead: float


@dataclass(frozen=True)
class Cluster:
    """Who leads, what N servers could run and do run, tasks by state, accounts by freshness, and alarms."""

    now: datetime
    leadership: Leadership
    active_servers: int
    capacity: int
    running: int
    tasks: Mapping[TaskState, int]
    accounts: Freshness
    instants_ahead: Sequence[InstantAhead]


def cluster(tx: Transaction, policy: Policy) -> Cluster:
    """The cluster as it stands now."""
    leader = leadership.read(tx, policy)
    now = tx.now()
    active_servers = fleet.active_servers(tx, policy, now)
    tasks = dict.fromkeys(TaskState, 0)
    tasks |= {TaskState(row["state"]): row["tasks"] for row in tx.all("status_count_tasks")}
    return Cluster(
        now=now,
        leadership=leader,
        active_servers=active_servers,
        capacity=active_servers * policy.slots_per_server,
        running=tasks[TaskState.RUNNING],
        tasks=tasks,
        accounts=_freshness(tx, now),
        instants_ahead=instants_ahead(tx),
    )


def instants_ahead(tx: Transaction) -> list[InstantAhead]:
    """Stored instants more than 5 s ahead of now. The clock is read last: what is written meanwhile is no alarm."""
    stored = [row for row in tx.all("status_list_newest_instants") if row["instant"] is not None]
    now = tx.now()
    tolerated = now + timedelta(seconds=AHEAD_TOLERANCE_SECONDS)
    return [
        InstantAhead(row["name"], row["instant"], (row["instant"] - now).total_seconds())
        for row in stored
        if row["instant"] > tolerated
    ]


def _freshness(tx: Transaction, now: datetime) -> Freshness:
    counts = {
        row["freshness"]: row["accounts"]
        for row in tx.all("status_count_freshness", now=now, late_after=LATE_AFTER_INTERVALS)
    }
    names = ("on_time", "catching_up", "late", "action_required", "paused")
    return Freshness(**{name: counts.get(name, 0) for name in names})
