-- What runs on a server, in the order in which tasks are locked.
-- index: PRIMARY
-- accepts: filesort because a server has a few slots
SELECT task_id FROM server_slots WHERE server_id = %(server_id)s AND task_id IS NOT NULL ORDER BY task_id
