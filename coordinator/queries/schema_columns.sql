-- The structure as it is: columns.
-- accepts: scan, filesort because information_schema has no index of ours, and it is asked at start and by probes only
SELECT table_name AS table_name, column_name AS column_name, column_type AS column_type, is_nullable AS is_nullable,
       column_default AS column_default, extra AS extra, collation_name AS collation_name,
       generation_expression AS generation_expression
FROM information_schema.columns
WHERE table_schema = %(database)s
ORDER BY table_name, column_name
