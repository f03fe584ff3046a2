-- The active task of an account, for an operator's verb to lock.
-- index: crawl_tasks_active
SELECT task_id FROM crawl_tasks WHERE active_account_id = %(account_id)s
