-- A partner as an import has it.
-- index: partners_code
INSERT INTO partners (partner_code, name, created_at) VALUES (%(partner_code)s, %(name)s, %(now)s) AS fresh
ON DUPLICATE KEY UPDATE name = fresh.name
