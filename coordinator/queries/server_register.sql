-- Another boot becomes a server's current one: it has acquired nothing yet, and no longer drains.
-- index: PRIMARY
UPDATE servers
SET boot_id = %(boot_id)s, machine_id = %(machine_id)s, hostname = %(hostname)s, version = %(version)s,
    registered_at = %(now)s, last_heartbeat_at = %(now)s, draining = FALSE, deregistered_at = NULL,
    acquire_seq = 0, acquired_task_id = NULL, acquired_fencing_token = NULL, row_version = row_version + 1
WHERE server_id = %(server_id)s
