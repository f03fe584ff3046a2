-- Acquire: hold a further marketplace, unless another acquire is there.
-- index: PRIMARY
SELECT quota_per_server, paused FROM marketplaces WHERE marketplace_code = %(marketplace_code)s FOR UPDATE SKIP LOCKED
