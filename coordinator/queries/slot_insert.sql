-- A further slot of a server.
-- index: PRIMARY
INSERT INTO server_slots (server_id, slot_no) VALUES (%(server_id)s, %(slot_no)s)
