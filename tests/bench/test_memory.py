"""A worker's memory does not grow with the account that it crawls."""

from __future__ import annotations

from deploy.cluster.cluster import Cluster
from deploy.cluster.memory import peak_rss_mb
from deploy.cluster.profile import SeededAccount
from deploy.sandbox.settings import Conduct
from tests.bench.conftest import Figures
from tests.bench.crawling import CrawlingCluster

SMALL = SeededAccount("partner-1", "meridian", "small", 20)
LARGE = SeededAccount("partner-1", "meridian", "large", 20_000)
GROWTH_MB = 30


def peak_after_crawling(crawling: CrawlingCluster, account: SeededAccount, already: int) -> float:
    """Peak RSS in MiB of a server that has crawled this account and nothing else."""
    crawling.make_known([account])
    crawling.start_server(f"server-{account.account_ref}")
    crawling.await_crawled(already + 1, seconds=300)
    child = crawling.cluster.servers.pop(f"server-{account.account_ref}")
    peak = peak_rss_mb(child.pid)
    child.stop()
    return peak


def test_peak_rss_at_20000_listings_is_near_that_at_20(cluster: Cluster, figures: Figures) -> None:
    crawling = CrawlingCluster.start(cluster, [SMALL, LARGE], Conduct())
    small = peak_after_crawling(crawling, SMALL, already=0)
    large = peak_after_crawling(crawling, LARGE, already=1)
    figures.judge("peak RSS of a worker at 20,000 listings", large, "MiB", at_most=small + GROWTH_MB)
