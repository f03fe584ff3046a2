-- A batch's records that could not be normalised.
-- index: PRIMARY
INSERT INTO listing_rejects (account_id, task_id, batch_no, record_ref, reason, detail, recorded_at)
VALUES (%(account_id)s, %(task_id)s, %(batch_no)s, %(record_ref)s, %(reason)s, %(detail)s, %(now)s)
