-- The current policy, locked so that two changes follow each other.
-- index: PRIMARY
SELECT version, digest, body FROM policy WHERE policy_id = 1 FOR UPDATE
