-- A server has left.
-- index: PRIMARY
UPDATE servers SET deregistered_at = %(now)s, row_version = row_version + 1 WHERE server_id = %(server_id)s
