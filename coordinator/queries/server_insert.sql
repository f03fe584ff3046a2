-- A server's first registration. Where another has just been faster, its row stays as it is.
-- index: PRIMARY
INSERT INTO servers (server_id, boot_id, machine_id, hostname, version, registered_at, last_heartbeat_at)
VALUES (%(server_id)s, %(boot_id)s, %(machine_id)s, %(hostname)s, %(version)s, %(now)s, %(now)s)
ON DUPLICATE KEY UPDATE server_id = servers.server_id
