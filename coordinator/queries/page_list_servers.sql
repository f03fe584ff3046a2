-- A page of servers, each with its slots and its last sample.
-- index: PRIMARY
SELECT s.server_id, s.boot_id, s.hostname, s.version, s.registered_at, s.last_heartbeat_at, s.draining, s.paused,
       s.deregistered_at, s.row_version,
       (SELECT COUNT(*) FROM server_slots o WHERE o.server_id = s.server_id) AS slots,
       (SELECT COUNT(o.task_id) FROM server_slots o WHERE o.server_id = s.server_id) AS running,
       m.cpu_percent, m.rss_bytes
FROM servers s
LEFT JOIN server_samples m ON m.server_id = s.server_id AND m.sampled_at = (
  SELECT MAX(l.sampled_at) FROM server_samples l WHERE l.server_id = s.server_id)
WHERE s.server_id > %(after)s
ORDER BY s.server_id
LIMIT %(limit)s
