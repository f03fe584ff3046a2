-- A task for recovery to write on, unless somebody is writing on it right now. Read the clock after it.
-- index: PRIMARY
SELECT task_id, account_id, marketplace_code, crawl_no, state, size_class, eligible_at, server_id, boot_id, fencing_token,
       acquired_at, acquired_page, lease_expires_at, epoch, cursor_format, last_batch_no,
       current_page, last_cursor_token, processed_count, total_discovered_count,
       progress_page, progress_cursor_token, progress_processed_count, progress_total_count, progress_at,
       attempts, enumeration, cancel_requested, yield_requested, completion_digest
FROM crawl_tasks
WHERE task_id = %(task_id)s
FOR UPDATE SKIP LOCKED
