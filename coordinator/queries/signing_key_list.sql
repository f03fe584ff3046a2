-- All keys, or those of one owner, without their secrets.
-- index: signing_keys_owner
-- accepts: scan because an operator lists all keys, of which there are a few per server
SELECT key_id, role, owner, created_at, expires_at, revoked_at
FROM signing_keys
WHERE %(owner)s IS NULL OR owner = %(owner)s
ORDER BY owner, key_id
