-- Revoke a key from the next request on; matches no key twice.
-- index: PRIMARY
UPDATE signing_keys SET revoked_at = %(now)s WHERE key_id = %(key_id)s AND revoked_at IS NULL
