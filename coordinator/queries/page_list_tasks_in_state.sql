-- A page of the tasks in one state.
-- index: crawl_tasks_dispatch
-- accepts: filesort because people ask; a waiting or running state has a task per account at most
SELECT t.task_id, t.account_id, p.partner_code, t.marketplace_code, a.account_ref, t.state, t.size_class, t.size, t.due_at,
       t.dispatch_key, t.eligible_at, t.server_id, t.fencing_token, t.acquired_at, t.lease_expires_at, t.epoch,
       IF(t.state = 'running', t.progress_page, t.current_page) AS current_page,
       IF(t.state = 'running', t.progress_processed_count, t.processed_count) AS processed_count,
       IF(t.state = 'running', t.progress_total_count, t.total_discovered_count) AS total_discovered_count,
       t.attempts, t.cancel_requested, t.error_code, t.error_message, t.created_at, t.ended_at
FROM crawl_tasks t FORCE INDEX (crawl_tasks_dispatch)
STRAIGHT_JOIN accounts a ON a.account_id = t.account_id
STRAIGHT_JOIN partners p ON p.partner_id = a.partner_id
WHERE t.state = %(state)s AND t.task_id > %(after)s
ORDER BY t.task_id
LIMIT %(limit)s
