-- Events past their retention leave, a bounded bite, oldest first.
-- index: task_events_recorded
DELETE FROM task_events WHERE recorded_at < %(before)s ORDER BY recorded_at, event_id LIMIT %(limit)s
