-- Clean up nonces past their retention, a bounded bite from the front.
-- index: PRIMARY
DELETE FROM nonces WHERE created < %(created_before)s ORDER BY created, key_id, nonce LIMIT %(limit)s
