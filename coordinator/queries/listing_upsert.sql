-- Store a batch's new and changed listings in key order; a delisted one is back.
-- index: PRIMARY
INSERT INTO listings (account_id, listing_ref, marketplace_code, parent_ref, title, title_cut, sku, barcode, price,
                      list_price, currency, quantity, status, attributes, content_hash, first_seen_at, changed_at,
                      last_seen_crawl_no, delisted_at, task_id, fencing_token, batch_no)
VALUES (%(account_id)s, %(listing_ref)s, %(marketplace_code)s, %(parent_ref)s, %(title)s, %(title_cut)s, %(sku)s,
        %(barcode)s, %(price)s, %(list_price)s, %(currency)s, %(quantity)s, %(status)s, %(attributes)s,
        %(content_hash)s, %(now)s, %(changed_at)s, %(crawl_no)s, NULL, %(task_id)s, %(fencing_token)s, %(batch_no)s)
AS fresh
ON DUPLICATE KEY UPDATE
  parent_ref = fresh.parent_ref, title = fresh.title, title_cut = fresh.title_cut, sku = fresh.sku,
  barcode = fresh.barcode, price = fresh.price, list_price = fresh.list_price, currency = fresh.currency,
  quantity = fresh.quantity, status = fresh.status, attributes = fresh.attributes, content_hash = fresh.content_hash,
  changed_at = fresh.changed_at, last_seen_crawl_no = fresh.last_seen_crawl_no, delisted_at = NULL,
  task_id = fresh.task_id, fencing_token = fresh.fencing_token, batch_no = fresh.batch_no
