-- Hold a waiting task whose account is paused; a delayed one keeps its time.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'held'
WHERE task_id = %(task_id)s AND state IN ('queued', 'delayed')
