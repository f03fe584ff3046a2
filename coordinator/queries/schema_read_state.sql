-- Which version of the schema this database has, and how its structure looked after the last apply.
-- index: PRIMARY
SELECT schema_version, fingerprint, catalogue, applied_at FROM schema_state WHERE schema_state_id = 1
