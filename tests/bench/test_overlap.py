"""Fetching and flushing overlap: a crawl takes hardly longer than the slower of the two."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deploy.cluster.cluster import Cluster
from deploy.cluster.profile import SeededAccount
from deploy.cluster.sandbox_process import DESCRIPTIONS
from deploy.sandbox.settings import Conduct
from tests.bench.conftest import Figures
from tests.bench.crawling import CrawlingCluster
from worker.batching import Draft
from worker.client import Answer, Client
from worker.connectors import registry
from worker.connectors.origin import Origin
from worker.connectors.seam import Response
from worker.crawl import crawl
from worker.identity import Identity
from worker.owner_calls import OwnerCalls
from worker.policy_watch import PolicyWatch
from worker.registration import Registration
from worker.running_task import Grant, RunningTask
from worker.transport import Transport

ACCOUNT = SeededAccount("partner-1", "meridian", "large", 20_000)
LATENCY_SECONDS = 0.03  # makes a page take about as long as its flush, where overlapping gains most and is hardest
BOUND = 1.15


class TimedTransport(Transport):
    """Adds up how long the marketplace's answers took."""

    seconds = 0.0

    def send(self, method: str, url: str, headers: Mapping[str, str], *rest: Any, **named: Any) -> Response:
        began = time.monotonic()
        try:
            return super().send(method, url, headers, *rest, **named)
        finally:
            self.seconds += time.monotonic() - began


class TimedCalls(OwnerCalls):
    """Adds up how long flushes took."""

    seconds = 0.0

    def flush(self, draft: Draft) -> None:
        began = time.monotonic()
        super().flush(draft)
        self.seconds += time.monotonic() - began


def only(marketplace_code: str, folder: Path) -> Path:
    """A folder with the description of one marketplace."""
    folder.mkdir()
    shutil.copy(DESCRIPTIONS / f"{marketplace_code}.toml", folder)
    return folder


def acquire(crawling: CrawlingCluster, client: Client, identity: Identity) -> Answer:
    """The account's task, once the Chief has planned it."""
    numbers = iter(range(1, 10_000))

    def ask() -> Answer | None:
        request = {"server_id": identity.server_id, "boot_id": identity.boot_id, "acquire_seq": next(numbers)}
        answer = client.call("POST", "/tasks/acquire", request)
        return answer if answer.status == 200 else None

    found: Answer = crawling.await_answer(ask, seconds=60)
    return found


def test_a_crawl_takes_as_long_as_the_slower_of_fetching_and_flushing(
    cluster: Cluster, tmp_path: Path, figures: Figures
) -> None:
    crawling = CrawlingCluster.start(cluster, [ACCOUNT], Conduct(latency_seconds=LATENCY_SECONDS))
    crawling.make_known([ACCOUNT])
    crawling.start_server("chief", only("harbour", tmp_path / "harbour"))  # plans, and can crawl nothing that is due
    connectors = registry.load(only("meridian", tmp_path / "meridian"), crawling.sandbox.origins)
    connector = connectors["meridian"]
    identity, watch = Identity.fresh("measured"), PolicyWatch()
    client = cluster.client("measured", cluster.issue_key("measured"))
    assert Registration(client, identity, watch).register(connectors, until=lambda: False, wait=time.sleep)
    answer = acquire(crawling, client, identity)
    task = RunningTask(Grant.read(answer.document))
    task.lease.renew(answer.sent_at, answer.document["lease_remaining_seconds"])
    transport = TimedTransport(Origin.parse(connector.spec.origin))
    calls = TimedCalls(client, identity, task, connector.spec.cursor_format)

    began = time.monotonic()
    crawl(task, calls, connector, transport, watch.current)
    seconds = time.monotonic() - began

    crawling.await_crawled(1, seconds=10)
    slower = max(transport.seconds, calls.seconds)
    name = f"crawl of 20,000 listings ({transport.seconds:.1f} s fetching, {calls.seconds:.1f} s flushing)"
    figures.judge(name, seconds, "s", at_most=BOUND * slower)
