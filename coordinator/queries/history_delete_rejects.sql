-- Rejects past their retention leave, a bounded bite, oldest first.
-- index: listing_rejects_recorded
DELETE FROM listing_rejects WHERE recorded_at < %(before)s ORDER BY recorded_at, reject_id LIMIT %(limit)s
