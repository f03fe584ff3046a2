-- Record the version and structure that an apply has reached.
-- index: PRIMARY
INSERT INTO schema_state (schema_state_id, schema_version, fingerprint, catalogue, applied_at)
VALUES (1, %(schema_version)s, %(fingerprint)s, %(catalogue)s, %(now)s) AS fresh
ON DUPLICATE KEY UPDATE schema_version = fresh.schema_version, fingerprint = fresh.fingerprint,
                        catalogue = fresh.catalogue, applied_at = fresh.applied_at
