-- Slots whose task does not run in them: a fault that housekeeping looks for.
-- accepts: scan because the cluster has a few slots per server, and only housekeeping asks
SELECT s.server_id, s.task_id
FROM server_slots s
JOIN crawl_tasks t ON t.task_id = s.task_id
WHERE t.running_server_id IS NULL OR t.running_server_id <> s.server_id
ORDER BY s.task_id
