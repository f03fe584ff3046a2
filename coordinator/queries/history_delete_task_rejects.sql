-- The rejects of an ended task that is being deleted, a bounded bite.
-- index: listing_rejects_task
DELETE FROM listing_rejects WHERE task_id = %(task_id)s ORDER BY reject_id LIMIT %(limit)s
