-- Where a task sits. Its row is locked, so the seat stays; the slot is then freed by its primary key.
-- index: server_slots_task
SELECT server_id, slot_no FROM server_slots WHERE task_id = %(task_id)s
