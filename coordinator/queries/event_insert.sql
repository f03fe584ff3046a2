-- What happened: one event, in the transaction of what it tells.
-- index: PRIMARY
INSERT INTO task_events (task_id, kind, server_id, fencing_token, detail, recorded_at)
VALUES (%(task_id)s, %(kind)s, %(server_id)s, %(fencing_token)s, %(detail)s, %(now)s)
