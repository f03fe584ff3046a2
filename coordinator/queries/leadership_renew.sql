-- The leader's lease counts from now on.
-- index: PRIMARY
UPDATE leadership SET renewed_at = %(now)s, lease_expires_at = %(lease_expires_at)s WHERE leadership_id = 1
