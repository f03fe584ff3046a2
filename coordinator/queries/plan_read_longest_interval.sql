-- What theta follows from: the longest refresh interval.
-- accepts: scan because only the Chief asks, once per round, and accounts are thousands
SELECT COALESCE(MAX(refresh_interval_seconds), 0) AS seconds FROM accounts
