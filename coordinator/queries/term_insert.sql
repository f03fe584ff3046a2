-- The ledger of terms: one more election. Its key refuses a token that was given before (I1).
-- index: PRIMARY
INSERT INTO leadership_terms (fencing_token, server_id, boot_id, elected_at)
VALUES (%(fencing_token)s, %(server_id)s, %(boot_id)s, %(now)s)
