-- An operator wants a running task to end: its owner learns it from its next answer.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY) SET cancel_requested = TRUE WHERE task_id = %(task_id)s
