-- Nobody leads; the token stays, so that the next election's is a greater one.
-- index: PRIMARY
UPDATE leadership
SET leader_server_id = NULL, leader_boot_id = NULL, renewed_at = NULL, lease_expires_at = NULL
WHERE leadership_id = 1
