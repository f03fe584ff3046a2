-- Terms past their retention leave, a bounded bite, oldest first; not the last one, nor those that a plan names.
-- index: leadership_terms_elected
DELETE FROM leadership_terms t
WHERE t.elected_at < %(before)s AND t.ended_at < %(before)s
  AND NOT EXISTS (SELECT 1 FROM plans p WHERE p.fencing_token = t.fencing_token)
ORDER BY t.elected_at
LIMIT %(limit)s
