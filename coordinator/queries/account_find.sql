-- An account by its identity, with its credentials, as an import finds it.
-- index: accounts_identity
SELECT a.account_id, a.settings, a.refresh_interval_seconds,
       c.version, c.encryption_version, c.secret_nonce, c.secret_sealed
FROM accounts a
LEFT JOIN account_credentials c ON c.account_id = a.account_id
WHERE a.partner_id = %(partner_id)s AND a.marketplace_code = %(marketplace_code)s AND a.account_ref = %(account_ref)s
