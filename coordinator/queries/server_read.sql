-- A server, for a refusal that needs no lock.
-- index: PRIMARY
SELECT server_id, boot_id, machine_id, last_heartbeat_at, draining, deregistered_at
FROM servers
WHERE server_id = %(server_id)s
