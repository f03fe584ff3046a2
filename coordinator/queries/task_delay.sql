-- A waiting task cannot run before a time; what it got stuck on is told.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'delayed', eligible_at = %(eligible_at)s, error_code = %(error_code)s, error_message = %(error_message)s
WHERE task_id = %(task_id)s
