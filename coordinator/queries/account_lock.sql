-- An account, for an operator to change. Its task is locked before it.
-- index: PRIMARY
SELECT account_id, paused, row_version FROM accounts WHERE account_id = %(account_id)s FOR UPDATE
