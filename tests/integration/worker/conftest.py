"""One cluster of real processes for the tests of the daemon; each test starts servers of its own and ends them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.cluster.cluster import Cluster
from tests.integration.mysql import programs
from tests.integration.worker.crawling import Crawling
from tests.invariants.proving import proving, recorded


@pytest.fixture(scope="module")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crawling]:
    """Database, coordinator and marketplaces, with short times."""
    folder = programs()
    if folder is None:
        pytest.skip("no MySQL 8.0.19 or later is installed: deploy/bootstrap installs a private one")
    history = tmp_path_factory.mktemp("history")
    with Cluster(tmp_path_factory.mktemp("cluster"), folder, modules=recorded(history)) as cluster:
        crawling = Crawling.start(cluster)
        with proving(cluster, history) as proof:
            yield crawling
            assert proof.judge() == []
        assert proof.watch.snapshots > 100, "hardly anything was watched"
        assert proof.exchanges > 100, "hardly anything was written down"


@pytest.fixture
def crawling(running_cluster: Crawling) -> Iterator[Crawling]:
    """The cluster without servers, and marketplaces that behave as at first."""
    yield running_cluster
    running_cluster.end_servers()
