-- N: servers heard of lately that neither drain nor have left.
-- index: servers_active
SELECT COUNT(*) AS active_servers
FROM servers
WHERE deregistered_at IS NULL AND draining = FALSE AND last_heartbeat_at > %(heard_after)s
