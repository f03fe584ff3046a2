-- Start a crawl again from page one inside the same task; batch numbers run on.
-- index: PRIMARY
UPDATE crawl_tasks FORCE INDEX (PRIMARY)
SET epoch = epoch + 1, enumeration = 'guessed', cursor_format = NULL,
    current_page = 0, last_cursor_token = NULL, processed_count = 0, total_discovered_count = NULL,
    progress_page = 0, progress_cursor_token = NULL, progress_processed_count = 0, progress_total_count = NULL
WHERE task_id = %(task_id)s
