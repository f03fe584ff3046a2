-- How many accounts there are by the age of their data.
-- accepts: scan because people ask, and accounts are thousands
SELECT freshness, COUNT(*) AS accounts
FROM (
  SELECT CASE
    WHEN paused THEN 'paused'
    WHEN suspended_at IS NOT NULL THEN 'action_required'
    WHEN %(now)s <= last_completed_at + INTERVAL refresh_interval_seconds SECOND THEN 'on_time'
    WHEN %(now)s <= COALESCE(last_completed_at, created_at)
                    + INTERVAL %(late_after)s * refresh_interval_seconds SECOND THEN 'catching_up'
    ELSE 'late'
  END AS freshness
  FROM accounts
) judged
GROUP BY freshness
