-- Acquire: claim the best waiting task of a marketplace and size class. With a sort it would lock every candidate, and
-- the next server would find nothing.
-- index: crawl_tasks_dispatch
SELECT task_id, account_id, marketplace_code, crawl_no, state, size_class, eligible_at, server_id, boot_id, fencing_token,
       acquired_at, acquired_page, lease_expires_at, epoch, cursor_format, last_batch_no,
       current_page, last_cursor_token, processed_count, total_discovered_count,
       progress_page, progress_cursor_token, progress_processed_count, progress_total_count, progress_at,
       attempts, enumeration, cancel_requested, yield_requested, completion_digest
FROM crawl_tasks FORCE INDEX (crawl_tasks_dispatch)
WHERE state = 'queued' AND marketplace_code = %(marketplace_code)s AND size_class = %(size_class)s
ORDER BY state, marketplace_code, size_class, dispatch_key, task_id
LIMIT 1
FOR UPDATE SKIP LOCKED
