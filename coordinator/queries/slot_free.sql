-- Free the slot of a task that no longer runs.
-- index: PRIMARY
UPDATE server_slots FORCE INDEX (PRIMARY)
SET task_id = NULL, marketplace_code = NULL, size_class = NULL
WHERE server_id = %(server_id)s AND slot_no = %(slot_no)s AND task_id = %(task_id)s
