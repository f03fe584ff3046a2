-- Whether an account may be crawled, held against a pause until the task that waits for it is durable.
-- index: PRIMARY
SELECT paused, suspended_at FROM accounts WHERE account_id = %(account_id)s FOR SHARE
