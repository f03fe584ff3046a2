-- An account whose crawl has failed: what its cool-down is computed from.
-- index: PRIMARY
SELECT refresh_interval_seconds, consecutive_failures, suspended_at
FROM accounts
WHERE account_id = %(account_id)s
FOR UPDATE
