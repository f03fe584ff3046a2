-- The credentials of an account are bad, unless they were changed after those were handed out: nothing of it is
-- planned or acquired until they change.
-- index: PRIMARY
UPDATE accounts a FORCE INDEX (PRIMARY)
SET a.suspended_at = %(now)s, a.consecutive_failures = LEAST(a.consecutive_failures + 1, 65535),
    a.row_version = a.row_version + 1
WHERE a.account_id = %(account_id)s
  AND NOT EXISTS (SELECT 1 FROM account_credentials c
                  WHERE c.account_id = %(account_id)s AND c.updated_at > %(acquired_at)s)
