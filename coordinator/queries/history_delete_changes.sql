-- Changes past their retention leave, a bounded bite, oldest first.
-- index: listing_changes_recorded
DELETE FROM listing_changes WHERE recorded_at < %(before)s ORDER BY recorded_at, change_id LIMIT %(limit)s
