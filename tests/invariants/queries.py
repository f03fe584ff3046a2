"""One query for each way in which rows can break an invariant; every row that a query finds is a violation.

The texts name the invariant and are filled with the row's columns. ``QUICK`` looks at what is active and can be asked
every few milliseconds; ``THOROUGH`` reads whole tables.
"""

from __future__ import annotations

LEADERSHIP = {
    "I1: {terms} terms carry the tokens {first} to {last}": """
        SELECT COUNT(*) AS terms, MIN(fencing_token) AS first, MAX(fencing_token) AS last FROM leadership_terms
        HAVING COUNT(*) > 0 AND COUNT(*) <> MAX(fencing_token) - MIN(fencing_token) + 1""",
    "I1: the newest term is {newest}, the leadership says {fencing_token}": """
        SELECT l.fencing_token, (SELECT MAX(fencing_token) FROM leadership_terms) AS newest FROM leadership l
        HAVING newest IS NOT NULL AND newest <> l.fencing_token""",
    "I1: term {fencing_token} has not ended, although {later} began": """
        SELECT t.fencing_token, later.fencing_token AS later FROM leadership_terms t
        JOIN leadership_terms later ON later.fencing_token = t.fencing_token + 1 WHERE t.ended_at IS NULL""",
    "I1: term {later} began at {elected_at}, term {fencing_token} ended at {ended_at}": """
        SELECT t.fencing_token, t.ended_at, later.fencing_token AS later, later.elected_at FROM leadership_terms t
        JOIN leadership_terms later ON later.fencing_token = t.fencing_token + 1
        WHERE t.ended_at > later.elected_at""",
    "I1: term {fencing_token} has ended ({end_reason}), yet {leader_server_id} leads by it": """
        SELECT t.fencing_token, t.end_reason, l.leader_server_id FROM leadership l JOIN leadership_terms t
        ON t.fencing_token = l.fencing_token WHERE l.leader_server_id IS NOT NULL AND t.ended_at IS NOT NULL""",
    "I2: a plan of term {fencing_token} was made at {planned_at}, the term lasted from {elected_at} to {ended_at}": """
        SELECT p.fencing_token, p.planned_at, t.elected_at, t.ended_at
        FROM plans p JOIN leadership_terms t USING (fencing_token)
        WHERE p.planned_at < t.elected_at OR p.planned_at > t.ended_at""",
}

QUICK = {
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
    "I7: the progress of task {task_id} is behind its checkpoint": """
        SELECT task_id FROM crawl_tasks
        WHERE state = 'running' AND (progress_page < current_page OR progress_processed_count < processed_count)""",
    "I5: task {task_id} runs by token {fencing_token} and no claim says what that saw": """
        SELECT t.task_id, t.fencing_token FROM crawl_tasks t LEFT JOIN task_claims c USING (task_id, fencing_token)
        WHERE t.state = 'running' AND c.task_id IS NULL""",
    "I8: task {task_id} runs with {last_batch_no} batches, its ledger ends at {last}": """
        SELECT t.task_id, t.last_batch_no, COALESCE(MAX(b.batch_no), 0) AS last
        FROM crawl_tasks t LEFT JOIN task_batches b USING (task_id) WHERE t.state = 'running'
        GROUP BY t.task_id, t.last_batch_no HAVING last <> t.last_batch_no""",
}

THOROUGH = {
    "I6: batch {batch_no} of task {task_id} carries token {fencing_token}, after a batch of a later one": """
        SELECT b.task_id, b.batch_no, b.fencing_token FROM task_batches b
        JOIN task_batches earlier ON earlier.task_id = b.task_id AND earlier.batch_no < b.batch_no
        WHERE earlier.fencing_token > b.fencing_token OR earlier.epoch > b.epoch""",
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
