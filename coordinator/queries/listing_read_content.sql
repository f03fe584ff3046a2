-- The stored content of listings that have changed, for the change's old side.
-- index: PRIMARY
SELECT listing_ref, parent_ref, title, title_cut, sku, barcode, price, list_price, currency, quantity, status,
       attributes
FROM listings
WHERE account_id = %(account_id)s AND listing_ref IN %(listing_refs)s
