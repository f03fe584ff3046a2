-- A server has been heard of.
-- index: PRIMARY
UPDATE servers SET last_heartbeat_at = %(now)s WHERE server_id = %(server_id)s
