-- Ended tasks to be deleted with what belongs to them.
-- index: PRIMARY
SELECT task_id
FROM crawl_tasks
WHERE task_id IN %(task_ids)s AND ended_at IS NOT NULL
ORDER BY task_id
FOR UPDATE SKIP LOCKED
