-- The account of a completed task: its size and crawl number, and when it is due again.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET size = %(size)s, crawl_no = %(crawl_no)s, last_completed_at = %(now)s, consecutive_failures = 0,
    next_due_at = %(now)s + INTERVAL refresh_interval_seconds SECOND, row_version = row_version + 1
WHERE account_id = %(account_id)s
