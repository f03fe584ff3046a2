-- The lease, held against any election while its leader writes (I2). Read the clock after it.
-- index: PRIMARY
SELECT fencing_token, leader_server_id, leader_boot_id, renewed_at, lease_expires_at
FROM leadership
WHERE leadership_id = 1
FOR SHARE
