-- Make a policy the current one.
-- index: PRIMARY
INSERT INTO policy (policy_id, version, digest, body, updated_at, updated_by)
VALUES (1, %(version)s, %(digest)s, %(body)s, %(now)s, %(actor)s) AS fresh
ON DUPLICATE KEY UPDATE version = fresh.version, digest = fresh.digest, body = fresh.body,
                        updated_at = fresh.updated_at, updated_by = fresh.updated_by
