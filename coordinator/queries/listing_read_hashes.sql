-- What is stored of a batch's listings, as far as it takes to tell which are new or changed.
-- index: PRIMARY
SELECT listing_ref, content_hash, changed_at, delisted_at
FROM listings
WHERE account_id = %(account_id)s AND listing_ref IN %(listing_refs)s
