-- End a task as cancelled; a running one keeps the name of its last owner.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'cancelled', eligible_at = NULL, lease_expires_at = NULL, yield_requested = FALSE, ended_at = %(now)s
WHERE task_id = %(task_id)s
