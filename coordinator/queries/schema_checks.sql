-- The structure as it is: check constraints.
-- accepts: scan, filesort because information_schema has no index of ours, and it is asked at start and by probes only
SELECT t.table_name AS table_name, c.constraint_name AS constraint_name, c.check_clause AS check_clause,
       t.enforced AS enforced
FROM information_schema.check_constraints c
JOIN information_schema.table_constraints t
  ON t.constraint_schema = c.constraint_schema AND t.constraint_name = c.constraint_name
WHERE c.constraint_schema = %(database)s
ORDER BY t.table_name, c.constraint_name
