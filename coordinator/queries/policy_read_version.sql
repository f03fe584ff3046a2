-- Which policy is current: asked by every request, so without its body.
-- index: PRIMARY
SELECT version, digest FROM policy WHERE policy_id = 1
