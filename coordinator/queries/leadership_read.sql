-- Who leads, without a lock: what those who may not be elected are answered from.
-- index: PRIMARY
SELECT fencing_token, leader_server_id, leader_boot_id, renewed_at, lease_expires_at
FROM leadership
WHERE leadership_id = 1
