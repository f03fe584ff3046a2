-- A plan's answer.
-- index: PRIMARY
UPDATE plans SET created_count = %(created_count)s, skipped_count = %(skipped_count)s WHERE plan_id = %(plan_id)s
