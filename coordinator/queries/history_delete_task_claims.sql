-- The claims of an ended task that is being deleted, a bounded bite.
-- index: PRIMARY
DELETE FROM task_claims WHERE task_id = %(task_id)s ORDER BY fencing_token LIMIT %(limit)s
