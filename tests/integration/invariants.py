"""What must be true of the database at any moment, asked of one consistent snapshot.

``violations`` returns a sentence for each row that breaks an invariant of the design (I3 to I9 as far as rows show
them). A claim is judged by what it wrote about itself and by what runs now, not by what ran in between; a listing
outlives the ledger of the task that wrote it, and is judged while that task is there.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from pymysql.cursors import DictCursor

from tests.integration.waits import Connection

QUERIES = {
    "I3: account {account_id} has {tasks} active tasks": """
        SELECT account_id, COUNT(*) AS tasks FROM crawl_tasks
        WHERE state IN ('queued', 'delayed', 'held', 'running') GROUP BY account_id HAVING COUNT(*) > 1""",
    "I4: task {task_id} runs on {server_id} without its slot": """
        SELECT t.task_id, t.server_id FROM crawl_tasks t
        LEFT JOIN server_slots s ON s.task_id = t.task_id AND s.server_id = t.server_id
                                    AND s.marketplace_code = t.marketplace_code AND s.size_class = t.size_class
        WHERE t.state = 'running' AND s.task_id IS NULL""",
    "I4: slot {slot_no} of {server_id} still names task {task_id}, which is {state}": """
        SELECT s.server_id, s.slot_no, s.task_id, t.state FROM server_slots s JOIN crawl_tasks t USING (task_id)
        WHERE t.running_server_id IS NULL OR t.running_server_id <> s.server_id""",
    "I4: {server_id} runs {tasks} tasks of {marketplace_code}": """
        SELECT server_id, marketplace_code, COUNT(*) AS tasks FROM crawl_tasks WHERE state = 'running'
        GROUP BY server_id, marketplace_code HAVING COUNT(*) > 1""",
    "I6: task {task_id} runs for boot {boot_id}, which is not its server's current one": """
        SELECT t.task_id, HEX(t.boot_id) AS boot_id FROM crawl_tasks t JOIN servers s USING (server_id)
        WHERE t.state = 'running' AND t.boot_id <> s.boot_id""",
    "I6: batch {batch_no} of task {task_id} carries token {fencing_token}, after a batch of a later one": """
        SELECT b.task_id, b.batch_no, b.fencing_token FROM task_batches b
        JOIN task_batches earlier ON earlier.task_id = b.task_id AND earlier.batch_no < b.batch_no
        WHERE earlier.fencing_token > b.fencing_token OR earlier.epoch > b.epoch""",
    "I7: the progress of task {task_id} is behind its checkpoint": """
        SELECT task_id FROM crawl_tasks
        WHERE state = 'running' AND (progress_page < current_page OR progress_processed_count < processed_count)""",
    "I8: the ledger of task {task_id} holds {batches} batches up to {last}, the task says {last_batch_no}": """
        SELECT t.task_id, t.last_batch_no, COUNT(b.batch_no) AS batches, COALESCE(MAX(b.batch_no), 0) AS last
        FROM crawl_tasks t LEFT JOIN task_batches b ON b.task_id = t.task_id
        GROUP BY t.task_id, t.last_batch_no
        HAVING COUNT(b.batch_no) <> t.last_batch_no OR COALESCE(MAX(b.batch_no), 0) <> t.last_batch_no""",
    "I8: listing {listing_ref} says it came by batch {batch_no} of task {task_id}, which the ledger does not know": """
        SELECT l.listing_ref, l.task_id, l.batch_no FROM listings l
        JOIN crawl_tasks t ON t.task_id = l.task_id
        LEFT JOIN task_batches b ON b.task_id = l.task_id AND b.batch_no = l.batch_no
                                    AND b.fencing_token = l.fencing_token
        WHERE b.task_id IS NULL""",
    "I8: a reject came by batch {batch_no} of task {task_id}, which the ledger does not know": """
        SELECT r.task_id, r.batch_no FROM listing_rejects r LEFT JOIN task_batches b USING (task_id, batch_no)
        WHERE b.task_id IS NULL""",
    "I9: task {task_id} was completed {times} times": """
        SELECT task_id, COUNT(*) AS times FROM task_events WHERE kind = 'completed'
        GROUP BY task_id HAVING COUNT(*) > 1""",
    "I9: account {account_id} counts {crawl_no} crawls, its tasks {completed}": """
        SELECT a.account_id, a.crawl_no, COALESCE(MAX(t.crawl_no), 0) AS completed FROM accounts a
        JOIN crawl_tasks t ON t.account_id = a.account_id AND t.state = 'completed'
        GROUP BY a.account_id, a.crawl_no HAVING COALESCE(MAX(t.crawl_no), 0) <> a.crawl_no""",
}

CLAIMS = """
    SELECT c.*, m.quota_per_server FROM task_claims c JOIN marketplaces m USING (marketplace_code)"""
RUNNING = """
    SELECT s.marketplace_code, COUNT(*) AS running, SUM(s.size_class = 'large') AS large,
           MAX(c.quota) AS quota, MAX(c.large_cap) AS large_cap
    FROM server_slots s
    JOIN crawl_tasks t USING (task_id)
    JOIN task_claims c ON c.task_id = t.task_id AND c.fencing_token = t.fencing_token
    GROUP BY s.marketplace_code"""


def violations(connection: Connection, slots_per_server: int = 3) -> list[str]:
    """Everything that is wrong, in sentences; an empty list when all invariants hold."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        try:
            found = [text.format(**row) for text, query in QUERIES.items() for row in _rows(cursor, query)]
            found += [_full(row, slots_per_server) for row in _rows(cursor, _overfull(slots_per_server))]
            found += [text for row in _rows(cursor, CLAIMS) for text in _of_claim(row)]
            found += [text for row in _rows(cursor, RUNNING) for text in _of_marketplace(row)]
        finally:
            cursor.execute("COMMIT")
    return found


def _rows(cursor: DictCursor, query: str) -> list[dict[str, Any]]:
    cursor.execute(query)
    return list(cursor.fetchall())


def _overfull(slots_per_server: int) -> str:
    return f"""SELECT server_id, COUNT(*) AS tasks FROM crawl_tasks WHERE state = 'running'
               GROUP BY server_id HAVING COUNT(*) > {slots_per_server:d}"""


def _full(row: dict[str, Any], slots_per_server: int) -> str:
    return f"I4: {row['server_id']} runs {row['tasks']} tasks, {slots_per_server} are allowed"


def _of_claim(row: dict[str, Any]) -> list[str]:
    """I5 by the claim's own account: its quota follows from its N, and it counted itself within it."""
    claim = f"I5: claim {row['fencing_token']} of task {row['task_id']}"
    quota = max(1, math.ceil(Decimal(row["quota_per_server"]) * row["active_servers"]))
    cap = max(1, quota - max(1, math.ceil(quota / 5)))
    found = []
    if (row["quota"], row["large_cap"]) != (quota, cap):
        found.append(f"{claim} saw quota {row['quota']} and cap {row['large_cap']}, not {quota} and {cap}")
    if not 1 <= row["running_count"] <= row["quota"]:
        found.append(f"{claim} counted {row['running_count']} of {row['quota']}")
    if row["size_class"] == "large" and not row["soft"] and not 1 <= row["large_count"] <= row["large_cap"]:
        found.append(f"{claim} counted {row['large_count']} large ones of {row['large_cap']}")
    return found


def _of_marketplace(row: dict[str, Any]) -> list[str]:
    """I5 by what runs: never more than the most generous of the claims that run saw as the quota."""
    found = []
    if row["running"] > row["quota"]:
        found.append(f"I5: {row['running']} tasks of {row['marketplace_code']} run, its quota is {row['quota']}")
    if row["large"] > row["large_cap"]:
        found.append(f"I5: {row['large']} large tasks of {row['marketplace_code']} run, {row['large_cap']} may")
    return found
