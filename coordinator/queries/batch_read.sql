-- A batch that was applied: whether a repeat is the same, and how it was answered.
-- index: PRIMARY
SELECT body_digest, answer FROM task_batches WHERE task_id = %(task_id)s AND batch_no = %(batch_no)s
