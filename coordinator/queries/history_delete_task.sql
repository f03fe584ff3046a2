-- An ended task whose ledger, rejects and claims have left.
-- index: PRIMARY
DELETE FROM crawl_tasks WHERE task_id = %(task_id)s
