-- Acquire: the best waiting task of each marketplace and size class that a server may run, nothing locked. The ORDER BY
-- names every column of the index, so that each head is the first entry of its range and nothing is sorted.
-- index: PRIMARY, crawl_tasks_dispatch, server_slots_marketplace, server_slots_count
SELECT STRAIGHT_JOIN
  capable.marketplace_code, capable.cursor_format, market.quota_per_server, class.size_class,
  head.dispatch_key, head.task_id,
  (SELECT COUNT(*) FROM server_slots seat WHERE seat.marketplace_code = capable.marketplace_code) AS running_count,
  (SELECT COUNT(*) FROM server_slots seat
   WHERE seat.marketplace_code = capable.marketplace_code AND seat.size_class = 'large') AS large_count
FROM server_marketplaces capable
JOIN marketplaces market ON market.marketplace_code = capable.marketplace_code AND NOT market.paused
JOIN (VALUES ROW('small'), ROW('large'), ROW('probe')) AS class (size_class)
JOIN LATERAL (
  SELECT task.dispatch_key, task.task_id
  FROM crawl_tasks task FORCE INDEX (crawl_tasks_dispatch)
  WHERE task.state = 'queued' AND task.marketplace_code = capable.marketplace_code
    AND task.size_class = class.size_class
  ORDER BY task.state, task.marketplace_code, task.size_class, task.dispatch_key, task.task_id
  LIMIT 1
) AS head
WHERE capable.server_id = %(server_id)s
  AND NOT EXISTS (SELECT 1 FROM server_slots own
                  WHERE own.server_id = %(server_id)s AND own.marketplace_code = capable.marketplace_code)
