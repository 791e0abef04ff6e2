CREATE STREAMING VIEW v WITH (max_recursion_depth = 20) AS
WITH RECURSIVE reached (origin, dest, hops) AS (
  SELECT order_id, carrier, 1 FROM shipments WHERE order_id = 1
  UNION
  SELECT o.order_id, o.customer, r.hops + 1 FROM reached r JOIN orders o ON o.customer = r.dest WHERE r.hops < 4
)
SELECT a.dest, min(a.hops) AS hops, count(*) AS n
FROM reached a JOIN reached b ON b.origin = a.origin GROUP BY a.dest;
