-- Acquire: what a locked server may still take, and what its last acquire got.
-- index: PRIMARY
SELECT s.paused, s.acquire_seq, s.acquired_task_id, s.acquired_fencing_token,
       (SELECT COUNT(taken.task_id) FROM server_slots taken WHERE taken.server_id = s.server_id) AS running_count,
       (SELECT MIN(free.slot_no) FROM server_slots free
        WHERE free.server_id = s.server_id AND free.task_id IS NULL) AS free_slot_no
FROM servers s
WHERE s.server_id = %(server_id)s
