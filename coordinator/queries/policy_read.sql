-- The current policy.
-- index: PRIMARY
SELECT version, digest, body FROM policy WHERE policy_id = 1
