-- Enter a batch into the ledger; its key refuses to apply one twice (I8).
-- index: PRIMARY
INSERT INTO task_batches (task_id, batch_no, epoch, fencing_token, body_digest, answer, applied_at)
VALUES (%(task_id)s, %(batch_no)s, %(epoch)s, %(fencing_token)s, %(body_digest)s, %(answer)s, %(now)s)
