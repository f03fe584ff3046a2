"""A cluster of real processes as the daemon's tests drive it: servers, marketplaces' conduct, what is stored."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import requests

from deploy.cluster import worker_process
from deploy.cluster.cluster import DATABASE, Cluster
from deploy.cluster.comparison import Comparison, compare
from deploy.cluster.processes import Child
from deploy.cluster.profile import SeededAccount
from deploy.cluster.sandbox_process import DESCRIPTIONS, Sandbox
from deploy.cluster.seeding import write_import_file
from deploy.cluster.worker_process import WorkerSettings
from deploy.sandbox.settings import Conduct
from shared.states import Role

T = TypeVar("T")

SEED = 7
SERVERS = ("one", "two")
PATIENCE_SECONDS = 60.0
POLL_SECONDS = 0.05
PAGE_SIZE = 20
CALM = Conduct(page_size_limit=PAGE_SIZE, latency_seconds=0.03)
POLICY = {
    "leader_lease_seconds": 4,
    "leader_heartbeat_seconds": 1,
    "failover_threshold_seconds": 6,
    "server_heartbeat_seconds": 0.5,
    "server_liveness_seconds": 6,
    "task_heartbeat_seconds": 1,
    "task_lease_seconds": 6,
    "plan_interval_seconds": 0.3,
    "acquire_poll_seconds": 0.2,
    "retry_base_seconds": 0.5,
}
MARKETPLACES = ("bazaar", "harbour", "meridian", "quayside")
CATALOGUES = [
    *(SeededAccount("partner-1", code, f"whole-{size}", size) for code in MARKETPLACES for size in (20, 130, 350)),
    *(SeededAccount("partner-2", code, "long", 1600) for code in MARKETPLACES),
    SeededAccount("partner-3", "bazaar", "short", 40),
    SeededAccount("partner-3", "harbour", "short", 40),
]


@dataclass
class Crawling:
    """Tests share the servers' names, and crawl accounts of their own."""

    cluster: Cluster
    sandbox: Sandbox
    _keys: dict[str, Path]
    _log_starts: dict[int, int] = field(default_factory=dict)
    _imports: int = 0

    @classmethod
    def start(cls, cluster: Cluster) -> Crawling:
        """Everything but servers and accounts."""
        cluster.start_database()
        cluster.command("policy", "set", *(f"{name}={value}" for name, value in POLICY.items()))
        cluster.start_coordinator()
        keys = cluster.issue_keys(dict.fromkeys(SERVERS, Role.SERVER))
        started = cls(cluster, cluster.start_sandbox(CATALOGUES, CALM, SEED), keys)
        started.behave("quayside", CALM)
        return started

    def server(self, server_id: str, *, another_folder: bool = False) -> Child:
        """Start a server's daemon; ``another_folder`` gives it a place of its own for the lock."""
        log = self.cluster.logs / f"{server_id}.log"
        log_start = log.stat().st_size if log.exists() else 0
        if not another_folder:
            child = self.cluster.start_server(server_id, self._keys[server_id], self.sandbox.origins)
            self._log_starts[child.pid] = log_start
            return child
        settings = WorkerSettings(
            server_id=server_id,
            key_file=self._keys[server_id],
            coordinator=self.cluster.settings.origin,
            descriptions=DESCRIPTIONS,
            origins=self.sandbox.origins,
            state_folder=self.cluster.folder / "another",
            logs=self.cluster.logs / "another",
            notes=self.cluster.notes / "another",
        )
        child = worker_process.start(settings)
        self.cluster.servers[f"{server_id}-another"] = child
        return child

    def end_servers(self) -> None:
        """End what the test started, without waiting for it to drain."""
        for child in self.cluster.servers.values():
            child.kill()
        self.cluster.servers.clear()

    def import_accounts(self, ref: str, *codes: str) -> None:
        """Make accounts known by their reference (or its beginning): they are due at once."""
        self._imports += 1
        file = self.cluster.folder / f"accounts-{self._imports}.json"
        chosen = [each for each in CATALOGUES if each.account_ref.startswith(ref) and each.marketplace_code in codes]
        write_import_file(file, chosen, SEED)
        self.cluster.command("accounts", "import", str(file))

    def behave(self, marketplace_code: str, conduct: Conduct) -> None:
        """Give a marketplace another conduct."""
        url = f"{self.sandbox.url}/control/marketplaces/{marketplace_code}/conduct"
        requests.put(url, data=msgspec.json.encode(conduct), timeout=10).raise_for_status()

    def pages_served(self, marketplace_code: str) -> int:
        """How many pages the marketplace has served, once none is under way any more."""
        url = f"{self.sandbox.url}/control/counts"

        def settled() -> int | None:
            first = requests.get(url, timeout=10).json()[marketplace_code].get("pages", 0)
            time.sleep(3 * CALM.latency_seconds)
            again = requests.get(url, timeout=10).json()[marketplace_code].get("pages", 0)
            return int(again) + 1 if first == again else None

        return self.wait_for(settled, "the marketplace to rest") - 1

    def task(self, ref: str, marketplace_code: str) -> dict[str, Any]:
        """The account's latest task; empty before there is one."""
        return self.row(
            "SELECT tasks.* FROM crawl_tasks tasks JOIN accounts USING (account_id)"
            " WHERE account_ref = %s AND accounts.marketplace_code = %s ORDER BY task_id DESC LIMIT 1",
            ref,
            marketplace_code,
        )

    def row(self, query: str, *values: object) -> dict[str, Any]:
        """The first row of an answer; empty when there is none."""
        with self.cluster.mysql.connect(DATABASE) as connection, connection.cursor() as cursor:
            cursor.execute(query, values)
            return cursor.fetchone() or {}

    def wait_for_pages(self, ref: str, marketplace_code: str, pages: int) -> dict[str, Any]:
        """Until the account's task has so many durable pages; returns it."""

        def far_enough() -> dict[str, Any] | None:
            task = self.task(ref, marketplace_code)
            return task if task.get("current_page", 0) >= pages else None

        return self.wait_for(far_enough, f"{pages} durable pages of {ref} at {marketplace_code}")

    def wait_for_completion(self, ref: str, *codes: str) -> None:
        """Until every account by that reference (or its beginning) has been crawled at these marketplaces."""
        left = "SELECT COUNT(*) AS accounts FROM accounts WHERE crawl_no = 0 AND account_ref LIKE %s"
        left += " AND marketplace_code IN %s"
        self.wait_for(lambda: not self.row(left, f"{ref}%", codes)["accounts"], f"crawls of {ref} at {codes}")

    def log(self, child: Child) -> str:
        """What a daemon has logged since it was started."""
        return child.program.log.read_bytes()[self._log_starts.get(child.pid, 0) :].decode()

    def wait_for_log(self, child: Child, event: str) -> dict[str, Any]:
        """Until a daemon has logged an event; returns the line."""

        def found() -> dict[str, Any] | None:
            lines = self.log(child).splitlines()
            documents = [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]
            return next((document for document in documents if document["event"] == event), None)

        return self.wait_for(found, f"{event} in the log of {child.name}")

    def wait_for_end(self, child: Child, seconds: float = PATIENCE_SECONDS) -> int:
        """Until a daemon has ended; returns its status."""
        return self.wait_for(
            lambda: None if child.status is None else (child.status,), f"the end of {child.name}", seconds
        )[0]

    def wait_for(self, ask: Callable[[], T | None], what: str, seconds: float = PATIENCE_SECONDS) -> T:
        """Ask until the answer is true, and return it."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            if answer := ask():
                return answer
            time.sleep(POLL_SECONDS)
        reports = "\n".join(child.report(child.how_it_ended()) for child in self.cluster.servers.values())
        raise AssertionError(f"waited {seconds:g} s in vain for {what}\n{reports}")

    def restart_coordinator(self) -> None:
        """Kill the coordinator as a power cut would, and start it again at the same address."""
        (coordinator,) = (child for child in self.cluster.core if child.name == "coordinator")
        coordinator.kill()
        self.cluster.core.remove(coordinator)
        self.cluster.start_coordinator()

    def comparison(self) -> Comparison:
        """All imported accounts, record by record, against their marketplaces."""
        with self.cluster.mysql.connect(DATABASE) as connection:
            return compare(connection, self.sandbox.catalogue, lambda seconds: None)

    @staticmethod
    def terminate(child: Child) -> None:
        """What systemd and people send."""
        child.send(signal.SIGTERM)
