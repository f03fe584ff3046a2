"""What must never move back from one snapshot to the next: tokens, checkpoints, crawl numbers, endings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Row = dict[str, Any]

TOKEN = "SELECT fencing_token FROM leadership"
TASKS = """
    SELECT task_id, state, fencing_token, epoch, current_page, processed_count, total_discovered_count, last_batch_no
    FROM crawl_tasks WHERE state IN ('queued', 'delayed', 'held', 'running')"""
ACCOUNTS = "SELECT account_id, crawl_no FROM accounts"


class Movement:
    """Remembers the snapshot before, and says what the next one took back."""

    def __init__(self) -> None:
        self._token = 0
        self._active: dict[int, Row] = {}
        self._ended: set[int] = set()
        self._crawls: dict[int, int] = {}

    def judge(self, token: int, tasks: Iterable[Row], accounts: Iterable[Row]) -> list[str]:
        """Sentences for what moved back; rows are the answers to the module's queries."""
        found = [f"I1: the leadership's token fell from {self._token} to {token}"] if token < self._token else []
        self._token = token
        active = {row["task_id"]: row for row in tasks}
        for task_id, row in active.items():
            found += self._of_task(task_id, row)
        self._ended |= self._active.keys() - active.keys()
        self._active = active
        for row in accounts:
            before = self._crawls.get(row["account_id"], 0)
            if row["crawl_no"] < before:
                found.append(f"I9: account {row['account_id']} fell from crawl {before} to {row['crawl_no']}")
            self._crawls[row["account_id"]] = row["crawl_no"]
        return found

    def _of_task(self, task_id: int, row: Row) -> list[str]:
        if task_id in self._ended:
            return [f"I9: task {task_id} had ended and is {row['state']} again"]
        before = self._active.get(task_id)
        if before is None:
            return []
        found = [
            f"{invariant}: {name} of task {task_id} fell from {before[name]} to {row[name]}"
            for invariant, name in (("I6", "fencing_token"), ("I7", "epoch"), ("I8", "last_batch_no"))
            if row[name] < before[name]
        ]
        if row["epoch"] == before["epoch"]:
            found += [
                f"I7: {name} of task {task_id} fell from {before[name]} to {row[name]} within epoch {row['epoch']}"
                for name in ("current_page", "processed_count", "total_discovered_count")
                if (row[name] or 0) < (before[name] or 0)
            ]
        return found
