-- The account of a failed task is due again after a cool-down.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET next_due_at = %(next_due_at)s, consecutive_failures = %(consecutive_failures)s, row_version = row_version + 1
WHERE account_id = %(account_id)s
