-- The structure as it is: the columns of foreign keys, in their order.
-- accepts: scan, filesort because information_schema has no index of ours, and it is asked at start and by probes only
SELECT k.table_name AS table_name, k.constraint_name AS constraint_name, k.column_name AS column_name,
       k.referenced_table_name AS referenced_table_name, k.referenced_column_name AS referenced_column_name,
       r.update_rule AS update_rule, r.delete_rule AS delete_rule
FROM information_schema.key_column_usage k
JOIN information_schema.referential_constraints r
  ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name
     AND r.table_name = k.table_name
WHERE k.constraint_schema = %(database)s AND k.referenced_table_name IS NOT NULL
ORDER BY k.table_name, k.constraint_name, k.ordinal_position
