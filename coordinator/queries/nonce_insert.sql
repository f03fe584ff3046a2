-- Remember an accepted signature's nonce (I10); a duplicate key is a replay.
-- index: PRIMARY
INSERT INTO nonces (created, key_id, nonce) VALUES (%(created)s, %(key_id)s, %(nonce)s)
