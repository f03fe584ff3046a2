-- Acquire: hold a marketplace while its running tasks are recounted and one is added; waits for another acquire.
-- index: PRIMARY
SELECT quota_per_server, paused FROM marketplaces WHERE marketplace_code = %(marketplace_code)s FOR UPDATE
