"""A cluster for the benchmarks of crawling: real processes, simulated marketplaces, production's times."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deploy.cluster.cluster import Cluster
from deploy.cluster.profile import SeededAccount
from deploy.cluster.sandbox_process import Sandbox
from deploy.cluster.seeding import write_import_file
from deploy.cluster.watching import Watch
from deploy.sandbox.settings import Conduct
from shared.states import Role

SEED = 1
POLL_SECONDS = 0.05


@dataclass
class CrawlingCluster:
    """MySQL, coordinator and marketplaces are up; accounts are made known and servers started by the benchmark."""

    cluster: Cluster
    sandbox: Sandbox
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        self.watch = Watch(self.cluster.client("viewer", self.cluster.issue_key("viewer", Role.VIEWER)))

    @classmethod
    def start(cls, cluster: Cluster, accounts: list[SeededAccount], conduct: Conduct) -> CrawlingCluster:
        """Start everything but servers; the marketplaces have all of these accounts."""
        cluster.start_database()
        cluster.start_coordinator()
        return cls(cluster, cluster.start_sandbox(accounts, conduct, SEED))

    def make_known(self, accounts: list[SeededAccount]) -> None:
        """Import these accounts: they are due at once."""
        file = self.cluster.folder / "accounts.json"
        file.unlink(missing_ok=True)
        write_import_file(file, accounts, SEED)
        self.cluster.command("accounts", "import", str(file))

    def await_crawled(self, accounts: int, seconds: float) -> None:
        """Wait until so many accounts have been crawled."""
        self.await_answer(lambda: self.watch.look().accounts_crawled >= accounts, seconds)

    def await_answer(self, ask: Callable[[], Any], seconds: float) -> Any:
        """Ask until the answer is something, and return it. Raises ``TimeoutError``, or when a process has ended."""
        ends_at = time.monotonic() + seconds
        while time.monotonic() < ends_at:
            for child in [*self.cluster.core, *self.cluster.servers.values()]:
                child.check()
            if answer := ask():
                return answer
            time.sleep(POLL_SECONDS)
        raise TimeoutError(f"waited {seconds:g} s in vain; the logs are in {self.cluster.logs}")

    def start_server(self, server_id: str, descriptions: Path | None = None) -> None:
        """Start a server of the cluster, for the sandbox's marketplaces or those of another folder."""
        arguments = () if descriptions is None else (descriptions,)
        key_file = self.cluster.issue_key(server_id)
        self.cluster.start_server(server_id, key_file, self.sandbox.origins, *arguments)
