-- Running tasks whose lease has ended, for recovery to lock one by one.
-- index: crawl_tasks_lease
SELECT task_id
FROM crawl_tasks
WHERE state = 'running' AND lease_expires_at <= %(now)s
ORDER BY lease_expires_at
LIMIT %(limit)s
