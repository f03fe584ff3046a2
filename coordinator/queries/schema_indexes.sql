-- The structure as it is: the columns of indexes and unique constraints, in their order.
-- accepts: scan, filesort because information_schema has no index of ours, and it is asked at start and by probes only
SELECT table_name AS table_name, index_name AS index_name, non_unique AS non_unique, column_name AS column_name,
       expression AS expression, sub_part AS sub_part, collation AS direction, is_visible AS is_visible,
       index_type AS index_type
FROM information_schema.statistics
WHERE table_schema = %(database)s
ORDER BY table_name, index_name, seq_in_index
