-- A page of accounts, each with its active task.
-- index: PRIMARY, crawl_tasks_active
SELECT a.account_id, p.partner_code, a.marketplace_code, a.account_ref, a.refresh_interval_seconds, a.size,
       a.next_due_at, a.crawl_no, a.consecutive_failures, a.last_completed_at, a.paused, a.suspended_at,
       t.task_id, t.state AS task_state, a.row_version
FROM accounts a
STRAIGHT_JOIN partners p ON p.partner_id = a.partner_id
LEFT JOIN crawl_tasks t ON t.active_account_id = a.account_id
WHERE a.account_id > %(after)s
ORDER BY a.account_id
LIMIT %(limit)s
