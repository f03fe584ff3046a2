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
    """A request as its rightful caller sends it; ``path`` is below the prefix. ``taken``: it is answered with 2xx."""

    path: str
    body: dict[str, Any] | None = None
    caller: str = "server-1"
    role: Role = Role.SERVER
    taken: bool = True


@dataclass
class Cluster:
    """Two servers with running tasks, and accounts besides; server-1 leads. Leases are long: no test waits for them."""

    boots: Mapping[str, UUID]
    tasks: Mapping[str, int]
    idle_account: int
    samples: dict[tuple[str, str], Sample] = field(default_factory=dict)


OWNED = ("heartbeat", "batch", "credentials", "complete", "fail", "release")


def build(seed: Seed) -> Cluster:
    """Seed the cluster and make the samples for it: server-1 runs a task of its own for each call on one."""
    idle = seed.account("idle", size=50)
    accounts = {name: seed.account(name, size=50) for name in (*OWNED, "foreign", "waiting")}
    boots = {name: seed.server(name, slots=len(OWNED) + 1) for name in ("server-1", "server-2")}
    tasks = {name: seed.task(accounts[name], "running", server_id="server-1", lease_seconds=900) for name in OWNED}
    tasks["foreign"] = seed.task(accounts["foreign"], "running", server_id="server-2", lease_seconds=900)
    tasks["waiting"] = seed.task(accounts["waiting"])
    seed.leader("server-1", lease_seconds=900)
    cluster = Cluster(boots, tasks, idle)
    for part in (_servers, _chief, _owner, _endings, _operators):
        cluster.samples |= part(cluster)
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
                "marketplaces": [{"marketplace_code": "idle", "cursor_format": "rest/1"}],
            },
        ),
        ("POST", "/servers/<server_id>/heartbeat"): Sample(
            "/servers/server-1/heartbeat",
            {**boot, "telemetry": {"cpu_percent": 1.5, "rss_bytes": 5, "running_tasks": 1}},
        ),
        ("POST", "/servers/<server_id>/deregister"): Sample(
            "/servers/server-9/deregister", {"boot_id": str(uuid4())}, "server-9", taken=False
        ),
    }


def _chief(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    boot = {"server_id": "server-1", "boot_id": str(cluster.boots["server-1"])}
    planned = {
        "account_id": cluster.idle_account,
        "due_at": "2026-01-01T00:00:00.000000Z",
        "size": 50,
        "size_class": "small",
        "dispatch_key": "2026-01-01T00:00:00.000000Z",
    }
    return {
        ("GET", "/policy"): Sample("/policy"),
        ("GET", "/leadership"): Sample("/leadership"),
        ("POST", "/leadership/campaign"): Sample("/leadership/campaign", boot),
        ("POST", "/leadership/heartbeat"): Sample("/leadership/heartbeat", fenced(cluster)),
        ("GET", "/plan/candidates"): Sample("/plan/candidates"),
        ("POST", "/plan"): Sample("/plan", fenced(cluster, plan_id=str(uuid4()), tasks=[planned])),
        ("POST", "/housekeeping"): Sample("/housekeeping", fenced(cluster)),
        ("POST", "/leadership/resign"): Sample("/leadership/resign", fenced(cluster)),
    }


def _owner(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    boot = {"server_id": "server-1", "boot_id": str(cluster.boots["server-1"])}
    progress = {"current_page": 1, "last_cursor_token": "c", "processed_count": 1, "total_discovered_count": 5}
    batch = fenced(
        cluster,
        **progress,
        listings=[{"listing_ref": "a", "title": "A", "price": "1.50", "currency": "EUR", "attributes": {"size": 1}}],
        rejects=[{"reason": "no_title", "detail": "there was none"}],
        cursor_format="rest/1",
        guessed=False,
    )
    return {
        ("POST", "/tasks/acquire"): Sample("/tasks/acquire", {**boot, "acquire_seq": 1}),
        ("POST", "/tasks/<task_id>/heartbeat"): Sample(
            f"/tasks/{cluster.tasks['heartbeat']}/heartbeat",
            fenced(cluster, **progress, rate_limit_wait_seconds=1.5),
        ),
        ("PUT", "/tasks/<task_id>/batches/<batch_no>"): Sample(f"/tasks/{cluster.tasks['batch']}/batches/1", batch),
        ("PUT", "/tasks/<task_id>/credentials"): Sample(
            f"/tasks/{cluster.tasks['credentials']}/credentials",
            fenced(cluster, version=1, values={"token": "t"}),
            taken=False,
        ),
    }


def _endings(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    bodies = {
        "complete": fenced(cluster, last_batch=0, processed_count=0, enumeration="proven"),
        "fail": fenced(cluster, error={"code": "broken", "message": "no"}, retryable=True, retry_after_seconds=5.0),
        "release": fenced(cluster, reason="drain"),
    }
    return {
        ("POST", f"/tasks/<task_id>/{name}"): Sample(f"/tasks/{cluster.tasks[name]}/{name}", body)
        for name, body in bodies.items()
    }


def _operators(cluster: Cluster) -> dict[tuple[str, str], Sample]:
    account = f"/accounts/{cluster.idle_account}"
    task = f"/tasks/{cluster.tasks['waiting']}"
    reads = {path: path for path in ("/cluster", "/servers", "/tasks", "/accounts")} | {"/tasks/<task_id>": task}
    writes = {
        "/tasks/<task_id>/cancel": Sample(f"{task}/cancel", None, "ann", Role.OPERATOR),
        "/accounts/<account_id>/resume": Sample(f"{account}/resume", {"row_version": 1}, "ann", Role.OPERATOR),
        "/accounts/<account_id>/pause": Sample(f"{account}/pause", {"row_version": 1}, "ann", Role.OPERATOR),
    }
    return {
        **{("GET", rule): Sample(path, None, "vera", Role.VIEWER) for rule, path in reads.items()},
        **{("POST", rule): sample for rule, sample in writes.items()},
    }
