-- Who did what: one entry, in the same transaction as the deed.
-- index: PRIMARY
INSERT INTO audit_log (actor, action, subject, detail, request_id, recorded_at)
VALUES (%(actor)s, %(action)s, %(subject)s, %(detail)s, %(request_id)s, %(now)s)
