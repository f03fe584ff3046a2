-- Which of these partners exist.
-- index: partners_code
SELECT partner_id, partner_code, name FROM partners WHERE partner_code IN %(partner_codes)s
