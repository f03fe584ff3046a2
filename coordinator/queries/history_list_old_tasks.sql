-- Ended tasks past their retention, oldest first.
-- index: crawl_tasks_ended
SELECT task_id FROM crawl_tasks WHERE ended_at < %(before)s ORDER BY ended_at, task_id LIMIT %(limit)s
