-- Surplus slots of a server leave; one that has been taken meanwhile stays.
-- index: PRIMARY
DELETE FROM server_slots WHERE server_id = %(server_id)s AND slot_no IN %(slot_nos)s AND task_id IS NULL
