-- A server can crawl a marketplace, in this cursor format.
-- index: PRIMARY
INSERT INTO server_marketplaces (server_id, marketplace_code, cursor_format)
VALUES (%(server_id)s, %(marketplace_code)s, %(cursor_format)s) AS fresh
ON DUPLICATE KEY UPDATE cursor_format = fresh.cursor_format
