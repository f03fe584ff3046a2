-- Accounts due within the planning horizon that nothing stops and nothing crawls yet.
-- index: accounts_due, crawl_tasks_active
SELECT a.account_id, a.marketplace_code, a.size, a.next_due_at AS due_at, m.yields
FROM accounts a FORCE INDEX (accounts_due)
STRAIGHT_JOIN marketplaces m ON m.marketplace_code = a.marketplace_code
WHERE a.next_due_at <= %(horizon)s AND a.paused = FALSE AND a.suspended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM crawl_tasks t WHERE t.active_account_id = a.account_id)
ORDER BY a.next_due_at, a.account_id
LIMIT %(limit)s
