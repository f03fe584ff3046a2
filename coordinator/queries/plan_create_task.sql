-- One planned task, if its account is still as the Chief saw it, due, and without an active task (I3).
-- Under READ COMMITTED the accounts are read without locks.
-- index: PRIMARY, crawl_tasks_active
INSERT INTO crawl_tasks (account_id, marketplace_code, crawl_no, state, size_class, size, due_at, dispatch_key,
                         eligible_at, created_at)
SELECT a.account_id, a.marketplace_code, a.crawl_no + 1, IF(a.next_due_at > %(now)s, 'delayed', 'queued'),
       %(size_class)s, a.size, a.next_due_at, %(dispatch_key)s,
       IF(a.next_due_at > %(now)s, a.next_due_at, NULL), %(now)s
FROM accounts a
WHERE a.account_id = %(account_id)s AND a.next_due_at = %(due_at)s AND a.size <=> %(size)s
  AND a.next_due_at <= %(horizon)s AND a.paused = FALSE AND a.suspended_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM crawl_tasks t WHERE t.active_account_id = a.account_id)
