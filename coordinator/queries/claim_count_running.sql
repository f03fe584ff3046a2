-- Acquire: what runs of a marketplace, counted from the slots under the marketplace's lock (I5).
-- index: server_slots_count
SELECT COUNT(*) AS running_count, COUNT(IF(size_class = 'large', 1, NULL)) AS large_count
FROM server_slots
WHERE marketplace_code = %(marketplace_code)s
