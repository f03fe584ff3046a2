-- Seat a claimed task. Its unique keys refuse a second task of the marketplace on the server (I4).
-- index: PRIMARY
UPDATE server_slots FORCE INDEX (PRIMARY)
SET task_id = %(task_id)s, marketplace_code = %(marketplace_code)s, size_class = %(size_class)s
WHERE server_id = %(server_id)s AND slot_no = %(slot_no)s AND task_id IS NULL
