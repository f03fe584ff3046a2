-- A held task waits again: until its time, where that has not come.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = %(state)s, eligible_at = IF(eligible_at > %(now)s, eligible_at, NULL)
WHERE task_id = %(task_id)s AND state = 'held'
