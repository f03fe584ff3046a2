-- Which of these marketplaces exist.
-- index: PRIMARY
SELECT marketplace_code FROM marketplaces WHERE marketplace_code IN %(marketplace_codes)s
