-- End a running task as failed.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'failed', lease_expires_at = NULL, yield_requested = FALSE, ended_at = %(now)s,
    attempts = %(attempts)s, error_code = %(error_code)s, error_message = %(error_message)s
WHERE task_id = %(task_id)s
