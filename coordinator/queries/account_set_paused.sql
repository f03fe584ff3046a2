-- An operator pauses an account or lets it go on.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET paused = %(paused)s, row_version = row_version + 1
WHERE account_id = %(account_id)s
