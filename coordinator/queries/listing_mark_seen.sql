-- Unchanged listings: only say that this crawl saw them.
-- index: PRIMARY
UPDATE listings FORCE INDEX (PRIMARY)
SET last_seen_crawl_no = %(crawl_no)s
WHERE account_id = %(account_id)s AND listing_ref IN %(listing_refs)s
