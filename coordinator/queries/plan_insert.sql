-- A plan begins. Its key refuses a second one of that id; whoever comes while it is under way waits here.
-- index: PRIMARY
INSERT INTO plans (plan_id, fencing_token, body_digest, created_count, skipped_count, planned_at)
VALUES (%(plan_id)s, %(fencing_token)s, %(body_digest)s, 0, 0, %(now)s)
