-- An account as an import has it.
-- index: PRIMARY
UPDATE accounts FORCE INDEX (PRIMARY)
SET settings = %(settings)s, refresh_interval_seconds = %(refresh_interval_seconds)s,
    suspended_at = IF(%(lifts_suspension)s, NULL, suspended_at), row_version = row_version + 1
WHERE account_id = %(account_id)s
