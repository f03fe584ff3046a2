-- A running task waits again: no owner, no lease, everything durable kept.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = %(state)s, eligible_at = %(eligible_at)s, server_id = NULL, boot_id = NULL, lease_expires_at = NULL,
    attempts = %(attempts)s, yield_requested = FALSE,
    error_code = COALESCE(%(error_code)s, error_code), error_message = COALESCE(%(error_message)s, error_message)
WHERE task_id = %(task_id)s
