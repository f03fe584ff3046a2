-- An account's first credentials.
-- index: PRIMARY
INSERT INTO account_credentials (account_id, version, encryption_version, secret_nonce, secret_sealed, updated_at)
VALUES (%(account_id)s, %(version)s, %(encryption_version)s, %(secret_nonce)s, %(secret_sealed)s, %(now)s)
