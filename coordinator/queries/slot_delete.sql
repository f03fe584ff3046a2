-- Surplus slots of a server leave. Its row is locked, so none of them is taken meanwhile.
-- index: PRIMARY
DELETE FROM server_slots WHERE server_id = %(server_id)s AND slot_no IN %(slot_nos)s
