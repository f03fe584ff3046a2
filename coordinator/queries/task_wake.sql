-- Queue delayed tasks; their state and time are judged anew under each row's lock.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'queued', eligible_at = NULL
WHERE task_id IN %(task_ids)s AND state = 'delayed' AND eligible_at <= %(now)s
