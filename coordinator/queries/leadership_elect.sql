-- An election: the lease goes to a boot under a new token.
-- index: PRIMARY
UPDATE leadership
SET fencing_token = %(fencing_token)s, leader_server_id = %(server_id)s, leader_boot_id = %(boot_id)s,
    renewed_at = %(now)s, lease_expires_at = %(lease_expires_at)s
WHERE leadership_id = 1
