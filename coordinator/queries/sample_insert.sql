-- A server's telemetry, unless its last sample is younger than that.
-- index: PRIMARY
INSERT INTO server_samples (server_id, sampled_at, boot_id, cpu_percent, rss_bytes, running_tasks)
SELECT %(server_id)s, %(now)s, %(boot_id)s, %(cpu_percent)s, %(rss_bytes)s, %(running_tasks)s
FROM DUAL
WHERE NOT EXISTS (
  SELECT 1 FROM server_samples s WHERE s.server_id = %(server_id)s AND s.sampled_at > %(not_after)s)
