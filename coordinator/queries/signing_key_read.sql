-- The key that a request says it was signed with.
-- index: PRIMARY
SELECT key_id, role, owner, encryption_version, secret_nonce, secret_sealed, created_at, expires_at, revoked_at,
       UTC_TIMESTAMP(6) AS now
FROM signing_keys
WHERE key_id = %(key_id)s
