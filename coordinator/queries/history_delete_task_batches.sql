-- The ledger of an ended task that is being deleted, a bounded bite.
-- index: PRIMARY
DELETE FROM task_batches WHERE task_id = %(task_id)s ORDER BY batch_no LIMIT %(limit)s
