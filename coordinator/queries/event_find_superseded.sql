-- Whether another boot once replaced this one. Only events of servers and of the leadership name no task: they are few.
-- index: task_events_task
SELECT 1 AS found
FROM task_events
WHERE task_id IS NULL AND server_id = %(server_id)s AND kind = 'boot_superseded'
  AND detail ->> '$.boot_id' = %(boot_id)s
LIMIT 1
