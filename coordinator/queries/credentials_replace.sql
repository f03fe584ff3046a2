-- The next version of an account's credentials.
-- index: PRIMARY
UPDATE account_credentials FORCE INDEX (PRIMARY)
SET version = %(version)s, encryption_version = %(encryption_version)s, secret_nonce = %(secret_nonce)s,
    secret_sealed = %(secret_sealed)s, updated_at = %(now)s
WHERE account_id = %(account_id)s
