-- An owner repeated itself and so lives: extend its lease, move nothing.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY) SET lease_expires_at = %(lease_expires_at)s WHERE task_id = %(task_id)s
