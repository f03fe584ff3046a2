-- An account's credentials, for the owner of its task to replace.
-- index: PRIMARY
SELECT version, encryption_version, secret_nonce, secret_sealed
FROM account_credentials
WHERE account_id = %(account_id)s
FOR UPDATE
