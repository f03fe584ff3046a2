"""What the coordinator's read side tells of the cluster, as an operator sees it."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from worker.client import Client

PACE_WINDOW_SECONDS = 10.0
_PAGE = 100


@dataclass(frozen=True)
class RunningCrawl:
    """A running task; ``processed`` is what its server says, which may be ahead of what is durable."""

    server_id: str
    partner_code: str
    marketplace_code: str
    account_ref: str
    processed: int


@dataclass(frozen=True)
class ServerSeen:
    """A registered server, how many of its slots are taken, and how long it has not been heard of."""

    server_id: str
    slots: int
    running: int
    silent_seconds: float


@dataclass(frozen=True)
class Snapshot:
    """The cluster at one moment; listings are counted in records, of finished crawls and of running ones."""

    leader_server_id: str | None
    term: int
    servers: Sequence[ServerSeen]
    running: Sequence[RunningCrawl]
    accounts_crawled: int
    records: int


class CrawlFailed(Exception):  # noqa: N818 - what became of a crawl
    """An account's crawl failed for good: which, and why."""


class Watch:
    """Asks the coordinator how far it is; finished accounts are read again only when their number has changed."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._completed = -1
        self._sizes: Mapping[int, int] = {}

    def look(self) -> Snapshot:
        """The cluster now.

        Raises ``CrawlFailed``; and ``worker.client.CoordinatorUnreachableError`` or ``shared.problems.Problem`` when
        it cannot be had at the moment.
        """
        cluster = self._get("/cluster")
        now = datetime.fromisoformat(cluster["now"])
        if cluster["tasks"]["failed"]:
            raise CrawlFailed(self._failure())
        running = [_running(task) for task in self._items("/tasks?state=running&")]
        if cluster["tasks"]["completed"] != self._completed:
            accounts = self._items("/accounts?")
            self._sizes = {each["account_id"]: each["size"] for each in accounts if each["crawl_no"]}
            self._completed = cluster["tasks"]["completed"]
        return Snapshot(
            leader_server_id=cluster["leadership"]["leader_server_id"],
            term=cluster["leadership"]["fencing_token"],
            servers=[_server(each, now) for each in self._items("/servers?") if each["deregistered_at"] is None],
            running=running,
            accounts_crawled=len(self._sizes),
            records=sum(self._sizes.values()) + sum(crawl.processed for crawl in running),
        )

    def _failure(self) -> str:
        task = next(self._items("/tasks?state=failed&"))
        account = f"{task['partner_code']} at {task['marketplace_code']}"
        return f"The crawl of {account} failed: {task['error_code']}: {task['error_message']}"

    def _items(self, path: str) -> Iterator[dict[str, Any]]:
        after = ""
        while True:
            page = self._get(f"{path}limit={_PAGE}{after}")
            yield from page["items"]
            if page["next_after"] is None:
                return
            after = f"&after={page['next_after']}"

    def _get(self, path: str) -> dict[str, Any]:
        return self._client.call("GET", path).document


class Pace:
    """How fast a count has been growing lately."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def learn(self, at: float, count: int) -> None:
        """Note the count at a monotonic instant in seconds."""
        self._seen.append((at, count))
        while self._seen[0][0] < at - PACE_WINDOW_SECONDS:
            self._seen.popleft()

    @property
    def per_second(self) -> float:
        """Growth per second over the last ten seconds; 0 until something has grown."""
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return max(last - first, 0) / (ended - began) if ended > began else 0.0


def _running(task: Mapping[str, Any]) -> RunningCrawl:
    return RunningCrawl(
        task["server_id"],
        task["partner_code"],
        task["marketplace_code"],
        task["account_ref"],
        task["processed_count"],
    )


def _server(server: Mapping[str, Any], now: datetime) -> ServerSeen:
    silent = now - datetime.fromisoformat(server["last_heartbeat_at"])
    return ServerSeen(server["server_id"], server["slots"], server["running"], silent.total_seconds())
