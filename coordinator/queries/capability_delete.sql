-- A server no longer crawls these marketplaces.
-- index: PRIMARY
DELETE FROM server_marketplaces WHERE server_id = %(server_id)s AND marketplace_code IN %(marketplace_codes)s
