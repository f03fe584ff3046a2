-- The ledger of terms: how and when one ended. A clock that was set back must not make it end before it began.
-- index: PRIMARY
UPDATE leadership_terms
SET ended_at = GREATEST(elected_at, %(ended_at)s), end_reason = %(reason)s
WHERE fencing_token = %(fencing_token)s AND ended_at IS NULL
