-- What a server can crawl, locked before its tasks are.
-- index: PRIMARY
SELECT marketplace_code, cursor_format
FROM server_marketplaces
WHERE server_id = %(server_id)s
ORDER BY marketplace_code
FOR UPDATE
