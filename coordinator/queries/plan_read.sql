-- What a plan was and what it was answered.
-- index: PRIMARY
SELECT body_digest, created_count, skipped_count FROM plans WHERE plan_id = %(plan_id)s
