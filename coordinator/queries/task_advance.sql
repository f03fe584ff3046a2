-- A batch was applied: move ledger end, checkpoint and progress, extend the lease.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET last_batch_no = %(last_batch_no)s, cursor_format = %(cursor_format)s, enumeration = %(enumeration)s,
    attempts = %(attempts)s, lease_expires_at = %(lease_expires_at)s, progress_at = %(progress_at)s,
    current_page = %(current_page)s, last_cursor_token = %(last_cursor_token)s,
    processed_count = %(processed_count)s, total_discovered_count = %(total_discovered_count)s,
    progress_page = %(progress_current_page)s, progress_cursor_token = %(progress_last_cursor_token)s,
    progress_processed_count = %(progress_processed_count)s, progress_total_count = %(progress_total_discovered_count)s
WHERE task_id = %(task_id)s
