-- Delayed tasks whose time has come.
-- index: crawl_tasks_wake
SELECT task_id
FROM crawl_tasks
WHERE state = 'delayed' AND eligible_at <= %(now)s
ORDER BY eligible_at
LIMIT %(limit)s
