-- A marketplace as an import has it.
-- index: PRIMARY
INSERT INTO marketplaces (marketplace_code, name, quota_per_server, yields)
VALUES (%(marketplace_code)s, %(name)s, %(quota_per_server)s, %(yields)s) AS fresh
ON DUPLICATE KEY UPDATE name = fresh.name, quota_per_server = fresh.quota_per_server, yields = fresh.yields,
                        row_version = marketplaces.row_version + 1
