-- A server's slots, and what sits in them.
-- index: PRIMARY
SELECT slot_no, task_id, marketplace_code FROM server_slots WHERE server_id = %(server_id)s ORDER BY slot_no
