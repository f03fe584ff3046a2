-- When an account's credentials were last changed.
-- index: PRIMARY
SELECT updated_at FROM account_credentials WHERE account_id = %(account_id)s
