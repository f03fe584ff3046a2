-- Acquire: remember how it was answered, so that a repeat is answered alike.
-- index: PRIMARY
UPDATE servers FORCE INDEX (PRIMARY)
SET acquire_seq = %(acquire_seq)s, acquired_task_id = %(task_id)s, acquired_fencing_token = %(fencing_token)s
WHERE server_id = %(server_id)s
