-- The newest instants that the database's clock has written, for the alarm about clocks: each the end of an index, or
-- of a table with a row per server.
-- accepts: scan because servers are few
SELECT 'leadership.renewed_at' AS name, renewed_at AS instant FROM leadership WHERE leadership_id = 1
UNION ALL SELECT 'leadership_terms.elected_at', MAX(elected_at) FROM leadership_terms
UNION ALL SELECT 'servers.last_heartbeat_at', MAX(last_heartbeat_at) FROM servers
UNION ALL SELECT 'plans.planned_at', MAX(planned_at) FROM plans
UNION ALL SELECT 'crawl_tasks.ended_at', MAX(ended_at) FROM crawl_tasks
UNION ALL SELECT 'task_events.recorded_at', MAX(recorded_at) FROM task_events
UNION ALL SELECT 'listing_changes.recorded_at', MAX(recorded_at) FROM listing_changes
UNION ALL SELECT 'audit_log.recorded_at', MAX(recorded_at) FROM audit_log
