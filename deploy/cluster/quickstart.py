"""The quickstart: a whole cluster from nothing, a crawl of everything, and the proof that it is right."""

import time
from pathlib import Path

from deploy.cluster import leftovers, report
from deploy.cluster.cluster import DATABASE, Cluster
from deploy.cluster.comparison import Comparison, compare
from deploy.cluster.interruption import Pause
from deploy.cluster.memory import peak_rss_mb
from deploy.cluster.options import Options
from deploy.cluster.places import shown
from deploy.cluster.processes import Child
from deploy.cluster.profile import SeededAccount
from deploy.cluster.progress import Progress
from deploy.cluster.report import Report
from deploy.cluster.sandbox_process import Sandbox
from deploy.cluster.seeding import write_import_file
from deploy.cluster.watching import CrawlFailed, Watch
from deploy.sandbox.settings import Conduct
from shared.problems import Problem
from shared.states import Role
from worker.client import CoordinatorUnreachableError

LOOK_SECONDS = 0.5
STALL_SECONDS = 180.0
OPERATOR = "quickstart"

POLICY = {
    "leader_lease_seconds": 6,
    "leader_heartbeat_seconds": 2,
    "failover_threshold_seconds": 20,
    "server_heartbeat_seconds": 5,
    "server_liveness_seconds": 20,
    "task_heartbeat_seconds": 4,
    "task_lease_seconds": 15,
    "plan_interval_seconds": 1,
    "acquire_poll_seconds": 0.25,
    "retry_base_seconds": 2,
}
"""Shorter times than production's, so that there is something to see within minutes; every rule stays in force."""

CONDUCT = Conduct(latency_seconds=0.03, error_rate=0.005)
"""Marketplaces that take their time and now and then fail, as the real ones do."""


class Quickstart:
    """One run, on a cluster that its caller ends. All of it raises ``ProcessFailed``, and what ``pause`` raises."""

    def __init__(
        self, cluster: Cluster, accounts: list[SeededAccount], options: Options, progress: Progress, pause: Pause
    ) -> None:
        self._cluster = cluster
        self._accounts = accounts
        self._options = options
        self._progress = progress
        self._pause = pause
        self._peak_rss_mb = 0.0
        self._lost: set[str] = set()
        self._keys: dict[str, Path] = {}
        self._names = [f"server-{number}" for number in range(1, options.servers + 1)]

    def set_up(self) -> Sandbox:
        """Everything but the servers, ready."""
        cluster, step = self._cluster, self._progress.step
        leftovers.stop(cluster.notes)
        cluster.clear()
        with step(f"MySQL, a private server in {shown(cluster.folder / 'mysql')}, with the schema"):
            cluster.start_database()
        with step(f"{sum(each.size for each in self._accounts):,} listings on 3 simulated marketplaces"):
            sandbox = cluster.start_sandbox(self._accounts, CONDUCT, self._options.seed)
        with step(f"{len(self._accounts)} accounts, and signing keys for the servers and an operator"):
            file = cluster.folder / "accounts.json"
            write_import_file(file, self._accounts, self._options.seed)
            policy = [f"{name}={value}" for name, value in POLICY.items()]
            cluster.commands(("accounts", "import", str(file)), ("policy", "set", *policy))
            self._keys = cluster.issue_keys({**dict.fromkeys(self._names, Role.SERVER), OPERATOR: Role.OPERATOR})
        with step(f"the coordinator, under gunicorn, at {cluster.settings.origin}"):
            cluster.start_coordinator()
        return sandbox

    def crawl(self, sandbox: Sandbox) -> float:
        """Start the servers and wait until every account has been crawled; returns the seconds that it took.

        Raises ``CrawlFailed`` when an account's crawl fails for good, or nothing advances any more.
        """
        began = time.monotonic()
        for name in self._names:
            self._cluster.start_server(name, self._keys[name], sandbox.origins)
        self.await_crawls(Watch(self._cluster.client(OPERATOR, self._keys[OPERATOR])))
        seconds = time.monotonic() - began
        self._progress.close()
        return seconds

    def await_crawls(self, watch: Watch) -> None:
        """Wait until every account has been crawled. Raises ``CrawlFailed``."""
        reached, reached_at = (-1, 0), time.monotonic()
        while reached[0] < len(self._accounts):
            self._check()
            try:
                snapshot = watch.look()
            except (CoordinatorUnreachableError, Problem) as error:
                self._progress.remark(f"the coordinator cannot be asked at the moment: {error}")
            else:
                self._progress.show(snapshot)
                if (now := (snapshot.accounts_crawled, snapshot.records)) != reached:
                    reached, reached_at = now, time.monotonic()
            if time.monotonic() - reached_at > STALL_SECONDS:
                raise CrawlFailed(f"Nothing has advanced for {STALL_SECONDS:g} seconds.")
            self._pause(LOOK_SECONDS)

    def judge(self, sandbox: Sandbox, seconds: float) -> tuple[Report, Comparison]:
        """Compare what is stored with what the marketplaces show, and sum up the run."""
        with (
            self._progress.step("every stored record compared with its marketplace"),
            self._cluster.mysql.connect(DATABASE) as connection,
        ):
            found = compare(connection, sandbox.catalogue, self._pause)
            return Report(
                accounts=len(self._accounts),
                accounts_crawled=report.accounts_crawled(connection),
                listings_expected=found.expected,
                listings_stored=found.stored,
                missing=found.missing,
                unexpected=found.unexpected,
                different=found.different,
                duplicates=found.duplicates,
                elections=report.elections(connection),
                reassignments=report.reassignments(connection),
                stale_rejections=report.stale_rejections(self._cluster.logs / "coordinator.log"),
                seconds=round(seconds, 1),
                rows_per_second=round(found.stored / seconds, 1),
                peak_worker_rss_mb=round(self._peak_rss_mb, 1),
                coordinator_url=self._cluster.settings.origin,
            ), found

    def keep(self) -> None:
        """Stay until ``pause`` raises, telling what ends meanwhile."""
        while True:
            self._check()
            self._pause(LOOK_SECONDS)

    def _check(self) -> None:
        """A lost server is what the others are for; without any, or without the rest, nothing can go on."""
        for child in self._cluster.core:
            child.check()
        for child in self._cluster.servers.values():
            self._peak_rss_mb = max(self._peak_rss_mb, peak_rss_mb(child.pid))
            if child.status is not None and child.name not in self._lost:
                self._lose(child)

    def _lose(self, child: Child) -> None:
        self._lost.add(child.name)
        if len(self._lost) == len(self._cluster.servers):
            child.check()
        self._progress.remark(
            f"{child.report(child.how_it_ended(), count=3)}\n  The other servers take over what it was doing."
        )
