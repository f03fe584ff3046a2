-- Complete a task; the digest tells a repeat from another completion (I9).
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'completed', lease_expires_at = NULL, yield_requested = FALSE, ended_at = %(now)s,
    completion_digest = %(completion_digest)s, enumeration = %(enumeration)s, attempts = 0,
    error_code = NULL, error_message = NULL
WHERE task_id = %(task_id)s
