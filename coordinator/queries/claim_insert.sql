-- Acquire: the audit of quota and large cap, as this claim saw them (I5).
-- index: PRIMARY
INSERT INTO task_claims (task_id, fencing_token, server_id, boot_id, marketplace_code, size_class, active_servers,
                         quota, running_count, large_cap, large_count, claimed_at)
VALUES (%(task_id)s, %(fencing_token)s, %(server_id)s, %(boot_id)s, %(marketplace_code)s, %(size_class)s,
        %(active_servers)s, %(quota)s, %(running_count)s, %(large_cap)s, %(large_count)s, %(now)s)
