-- An owner lives: extend its lease and record its progress. The checkpoint stays.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET lease_expires_at = %(lease_expires_at)s, progress_at = %(progress_at)s,
    progress_page = %(current_page)s, progress_cursor_token = %(last_cursor_token)s,
    progress_processed_count = %(processed_count)s, progress_total_count = %(total_discovered_count)s
WHERE task_id = %(task_id)s
