-- A new account, due at once. Where another import has just been faster, its row stays as it is.
-- index: accounts_identity
INSERT INTO accounts (partner_id, marketplace_code, account_ref, settings, refresh_interval_seconds, next_due_at,
                      created_at)
VALUES (%(partner_id)s, %(marketplace_code)s, %(account_ref)s, %(settings)s, %(refresh_interval_seconds)s, %(now)s,
        %(now)s)
ON DUPLICATE KEY UPDATE account_id = accounts.account_id
