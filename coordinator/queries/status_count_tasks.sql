-- How many tasks there are in each state.
-- index: crawl_tasks_lease
-- accepts: scan because people ask, and the index alone answers
SELECT state, COUNT(*) AS tasks FROM crawl_tasks GROUP BY state
