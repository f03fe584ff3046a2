-- The account of a cancelled task is due again after its refresh interval.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET next_due_at = %(now)s + INTERVAL refresh_interval_seconds SECOND, row_version = row_version + 1
WHERE account_id = %(account_id)s
