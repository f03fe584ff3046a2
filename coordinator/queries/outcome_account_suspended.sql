-- The credentials of an account are bad: nothing of it is planned or acquired until they change.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET suspended_at = %(now)s, consecutive_failures = LEAST(consecutive_failures + 1, 65535),
    row_version = row_version + 1
WHERE account_id = %(account_id)s
