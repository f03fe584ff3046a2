-- All marketplaces, as an import finds them.
-- accepts: scan because marketplaces are a few dozen at most
SELECT marketplace_code, name, quota_per_server, yields FROM marketplaces
