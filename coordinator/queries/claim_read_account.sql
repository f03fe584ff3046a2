-- Acquire: the account of a claimed task, with its credentials; read afresh and without locks.
-- index: PRIMARY
SELECT a.account_id, a.marketplace_code, a.account_ref, a.settings, a.size, a.paused, a.suspended_at,
       c.version, c.encryption_version, c.secret_nonce, c.secret_sealed
FROM accounts a
LEFT JOIN account_credentials c ON c.account_id = a.account_id
WHERE a.account_id = %(account_id)s
