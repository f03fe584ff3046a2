"""How far the cluster is, read page by page from the coordinator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from deploy.cluster.watching import CrawlFailed, Pace, RunningCrawl, ServerSeen, Snapshot, Watch

NOW = "2026-01-02T00:00:20.000000Z"


@dataclass
class Answer:
    """An answer of the coordinator."""

    document: dict[str, Any]


@dataclass
class Coordinator:
    """Answers as the coordinator would, from these documents by path."""

    documents: dict[str, dict[str, Any]]
    asked: list[str] = field(default_factory=list)

    def call(self, method: str, path: str) -> Answer:
        """Answer a GET."""
        assert method == "GET"
        self.asked.append(path)
        return Answer(self.documents[path])


def task(**members: object) -> dict[str, object]:
    """A task's line."""
    line = {"server_id": "server-1", "partner_code": "partner-01", "marketplace_code": "bazaar", "account_ref": "a"}
    return {**line, "processed_count": 30, "error_code": None, "error_message": None, **members}


def page(*items: dict[str, Any], next_after: object = None) -> dict[str, Any]:
    """A page."""
    return {"items": list(items), "next_after": next_after}


def coordinator(**tasks: int) -> Coordinator:
    """Three accounts on two pages, one of them crawled; one task running."""
    server = {"slots": 3, "running": 1, "last_heartbeat_at": "2026-01-02T00:00:05.000000Z"}
    return Coordinator(
        {
            "/cluster": {
                "now": NOW,
                "leadership": {"leader_server_id": "server-1", "fencing_token": 4},
                "tasks": {"failed": 0, "completed": 1, **tasks},
            },
            "/tasks?state=running&limit=100": page(task()),
            "/tasks?state=failed&limit=100": page(task(error_code="gone", error_message="no such shop")),
            "/accounts?limit=100": page(
                {"account_id": 1, "crawl_no": 1, "size": 500},
                {"account_id": 2, "crawl_no": 0, "size": None},
                next_after=2,
            ),
            "/accounts?limit=100&after=2": page({"account_id": 3, "crawl_no": 0, "size": None}),
            "/servers?limit=100": page(
                {"server_id": "server-1", "deregistered_at": None, **server},
                {"server_id": "server-2", "deregistered_at": NOW, **server},
            ),
        }
    )


def test_a_snapshot_counts_what_is_done_and_what_runs() -> None:
    assert Watch(coordinator()).look() == Snapshot(  # type: ignore[arg-type]  # it has the one method that is used
        leader_server_id="server-1",
        term=4,
        servers=[ServerSeen("server-1", 3, 1, silent_seconds=15.0)],
        running=[RunningCrawl("server-1", "partner-01", "bazaar", "a", 30)],
        accounts_crawled=1,
        records=530,
    )


def test_accounts_are_read_again_only_when_a_crawl_has_ended() -> None:
    double = coordinator()
    watch = Watch(double)  # type: ignore[arg-type]  # as above
    watch.look()
    watch.look()
    assert double.asked.count("/accounts?limit=100&after=2") == 1
    double.documents["/cluster"]["tasks"]["completed"] = 2
    watch.look()
    assert double.asked.count("/accounts?limit=100&after=2") == 2


def test_a_failed_crawl_is_told_with_its_reason() -> None:
    with pytest.raises(CrawlFailed, match="partner-01 at bazaar failed: gone: no such shop"):
        Watch(coordinator(failed=1)).look()  # type: ignore[arg-type]  # as above


def test_the_pace_is_that_of_the_last_ten_seconds() -> None:
    pace = Pace()
    pace.learn(0.0, 0)
    assert pace.per_second == 0
    pace.learn(5.0, 100)
    assert pace.per_second == 20
    pace.learn(20.0, 100)
    assert pace.per_second == 0
    pace.learn(25.0, 600)
    assert pace.per_second == 100
