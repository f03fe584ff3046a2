-- Samples past their retention leave, a bounded bite, oldest first.
-- index: server_samples_sampled
DELETE FROM server_samples WHERE sampled_at < %(before)s ORDER BY sampled_at, server_id LIMIT %(limit)s
