-- Issue a key.
-- index: PRIMARY
INSERT INTO signing_keys (key_id, role, owner, encryption_version, secret_nonce, secret_sealed, created_at, expires_at)
VALUES (%(key_id)s, %(role)s, %(owner)s, %(encryption_version)s, %(secret_nonce)s, %(secret_sealed)s, %(now)s,
        %(expires_at)s)
