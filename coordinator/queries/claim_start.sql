-- Acquire: a seated task runs. A new token fences off every former owner; progress starts at the checkpoint.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET state = 'running', server_id = %(server_id)s, boot_id = %(boot_id)s, fencing_token = fencing_token + 1,
    acquired_at = %(now)s, acquired_page = current_page, lease_expires_at = %(lease_expires_at)s,
    progress_page = current_page, progress_cursor_token = last_cursor_token,
    progress_processed_count = processed_count, progress_total_count = total_discovered_count,
    progress_at = %(now)s, yield_requested = FALSE
WHERE task_id = %(task_id)s
