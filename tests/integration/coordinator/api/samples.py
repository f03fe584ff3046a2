"""One good request for each call of the API, in a small cluster that is seeded for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from shared.states import Role
from tests.integration.seed import Seed


@dataclass(frozen=True)
class Sample:
    """A request as its rightful caller sends it; ``path`` is below the prefix."""

    path: str
    body: dict[str, Any] | None = None
    caller: str = "server-1"
    role: Role = Role.SERVER


@dataclass
class Cluster:
    """Two servers, each with a running task, a third task that waits; server-1 leads."""

    boots: Mapping[str, UUID]
    tasks: Mapping[str, int]
    accounts: Mapping[str, int]
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)


def build(seed: Seed) -> Cluster:
    """Seed the cluster and make the samples for it."""
    accounts = {
        name: seed.account("shopify" if name != "idle" else "trendyol", size=50)
        for name in ("one", "two", "waiting", "idle")
    }
    boots = {name: seed.server(name) for name in ("server-1", "server-2")}
    tasks = {
        "server-1": seed.task(accounts["one"], "running", server_id="server-1"),
        "server-2": seed.task(accounts["two"], "running", server_id="server-2"),
        "waiting": seed.task(accounts["waiting"]),
    }
    seed.leader("server-1")
    cluster = Cluster(boots, tasks, accounts)
    cluster.samples = _servers(cluster) | _leadership(cluster) | _tasks(cluster)
    return cluster


def fenced(cluster: Cluster, **more: Any) -> dict[str, Any]:
    """A body in the name of server-1's boot with fencing token 1, as leader or owner."""
    return {"server_id": "server-1", "boot_id": str(cluster.boots["server-1"]), "fencing_token": 1, **more}


def _servers(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    boot = {"boot_id": str(cluster.boots["server-1"])}
    return {
        ("PUT", "/servers/<server_id>"): Sample(
            "/servers/server-1",
            {
                **boot,
                "machine_id": "machine-of-server-1",
                "hostname": "server-1.test",
                "version": "0.1.0",
                "marketplaces": [{"marketplace_code": "shopify", "cursor_format": "rest/1"}],
            },
        ),
        ("POST", "/servers/<server_id>/heartbeat"): Sample(
            "/servers/server-1/heartbeat",
            {**boot, "telemetry": {"cpu_percent": 1.5, "rss_bytes": 5, "running_tasks": 1}},
        ),
        ("POST", "/servers/<server_id>/deregister"): Sample(
            "/servers/server-9/deregister", {"boot_id": str(uuid4())}, "server-9"
        ),
    }


def _leadership(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    boot = {"server_id": "server-1", "boot_id": str(cluster.boots["server-1"])}
    return {
        ("GET", "/policy"): Sample("/policy"),
        ("GET", "/leadership"): Sample("/leadership"),
        ("POST", "/leadership/campaign"): Sample("/leadership/campaign", boot),
        ("POST", "/leadership/heartbeat"): Sample("/leadership/heartbeat", fenced(cluster)),
        ("POST", "/leadership/resign"): Sample("/leadership/resign", fenced(cluster)),
    }


def _tasks(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    task = f"/tasks/{cluster.tasks['server-1']}"
    progress = {
        "current_page": 1,
        "last_cursor_token": "c",
        "processed_count": 1,
        "total_discovered_count": 5,
    }
    return {
        ("POST", "/tasks/<task_id>/heartbeat"): Sample(f"{task}/heartbeat", fenced(cluster, **progress)),
        ("PUT", "/tasks/<task_id>/batches/<batch_no>"): Sample(
            f"{task}/batches/1",
            fenced(
                cluster,
                **progress,
                listings=[{"listing_ref": "a", "title": "A", "price": "1.50", "currency": "EUR"}],
                rejects=[],
                cursor_format="rest/1",
                guessed=False,
            ),
        ),
    }
