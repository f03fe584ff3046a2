-- What else the owner of a task must know: whether its server drains, which credentials are current.
-- index: PRIMARY
SELECT s.draining, c.version AS credentials_version
FROM servers s
LEFT JOIN account_credentials c ON c.account_id = %(account_id)s
WHERE s.server_id = %(server_id)s
