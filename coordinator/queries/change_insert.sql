-- What a batch made appear or change; positions in the feed are given after commit.
-- index: PRIMARY
INSERT INTO listing_changes (account_id, listing_ref, kind, task_id, batch_no, old, new, recorded_at)
VALUES (%(account_id)s, %(listing_ref)s, %(kind)s, %(task_id)s, %(batch_no)s, %(old)s, %(new)s, %(now)s)
