"""I5 by claim records: what each claim saw, and that what runs now never exceeds the most generous of them.

N may shrink below what runs: then nothing is killed, and nothing new starts until it fits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

Row = dict[str, Any]

CLAIMS = """
    SELECT c.*, m.quota_per_server FROM task_claims c JOIN marketplaces m USING (marketplace_code)"""
CLAIMS_OF_RUNNING = f"""{CLAIMS}
    JOIN crawl_tasks t ON t.task_id = c.task_id AND t.fencing_token = c.fencing_token WHERE t.state = 'running'"""
RUNNING = """
    SELECT s.marketplace_code, COUNT(*) AS running, SUM(s.size_class = 'large') AS large,
           MAX(c.quota) AS quota, MAX(c.large_cap) AS large_cap
    FROM server_slots s
    JOIN crawl_tasks t USING (task_id)
    JOIN task_claims c ON c.task_id = t.task_id AND c.fencing_token = t.fencing_token
    GROUP BY s.marketplace_code"""


def of_claim(row: Row) -> Iterator[str]:
    """Its quota follows from its N, and it counted itself within it."""
    claim = f"I5: claim {row['fencing_token']} of task {row['task_id']}"
    quota = max(1, math.ceil(Decimal(row["quota_per_server"]) * row["active_servers"]))
    cap = max(1, quota - max(1, math.ceil(quota / 5)))
    if (row["quota"], row["large_cap"]) != (quota, cap):
        yield f"{claim} saw quota {row['quota']} and cap {row['large_cap']}, not {quota} and {cap}"
    if not 1 <= row["running_count"] <= row["quota"]:
        yield f"{claim} counted {row['running_count']} of {row['quota']}"
    if row["size_class"] == "large" and not row["soft"] and not 1 <= row["large_count"] <= row["large_cap"]:
        yield f"{claim} counted {row['large_count']} large ones of {row['large_cap']}"


def of_marketplace(row: Row) -> Iterator[str]:
    """No more runs than the claims that run saw as the quota."""
    if row["running"] > row["quota"]:
        yield f"I5: {row['running']} tasks of {row['marketplace_code']} run, its quota is {row['quota']}"
    if row["large"] > row["large_cap"]:
        yield f"I5: {row['large']} large tasks of {row['marketplace_code']} run, {row['large_cap']} may"


def of_server(slots_per_server: int) -> tuple[str, str]:
    """Text and query: servers that run more tasks than they have slots (I4)."""
    return (
        f"I4: {{server_id}} runs {{tasks}} tasks, {slots_per_server} are allowed",
        f"""SELECT server_id, COUNT(*) AS tasks FROM crawl_tasks WHERE state = 'running'
            GROUP BY server_id HAVING COUNT(*) > {slots_per_server:d}""",
    )
