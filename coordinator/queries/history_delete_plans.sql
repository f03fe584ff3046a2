-- Plans past their retention leave, a bounded bite, oldest first.
-- index: plans_planned
DELETE FROM plans WHERE planned_at < %(before)s ORDER BY planned_at, plan_id LIMIT %(limit)s
