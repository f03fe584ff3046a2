-- Ended tasks beyond those that each account keeps, of the accounts whose tasks have ended last.
-- index: crawl_tasks_ended, crawl_tasks_account
SELECT DISTINCT surplus.task_id
FROM (
  SELECT account_id, marketplace_code
  FROM crawl_tasks
  WHERE ended_at IS NOT NULL
  ORDER BY ended_at DESC, task_id DESC
  LIMIT %(limit)s
) latest
JOIN LATERAL (
  SELECT t.task_id
  FROM crawl_tasks t
  WHERE t.account_id = latest.account_id AND t.marketplace_code = latest.marketplace_code AND t.ended_at IS NOT NULL
  ORDER BY t.account_id DESC, t.marketplace_code DESC, t.task_id DESC
  LIMIT 5 OFFSET %(kept)s
) surplus
