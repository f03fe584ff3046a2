-- The structure as it is: tables.
-- accepts: scan, filesort because information_schema has no index of ours, and it is asked at start and by probes only
SELECT table_name AS table_name, engine AS engine, table_collation AS table_collation
FROM information_schema.tables
WHERE table_schema = %(database)s AND table_type = 'BASE TABLE'
ORDER BY table_name
