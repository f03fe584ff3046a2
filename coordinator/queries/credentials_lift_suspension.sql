-- An account's credentials change: it may run again. Its row is locked before theirs.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET row_version = row_version + (suspended_at IS NOT NULL), suspended_at = NULL
WHERE account_id = %(account_id)s
