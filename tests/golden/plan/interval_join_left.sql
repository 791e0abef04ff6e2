CREATE STREAMING VIEW shipped AS
SELECT o.order_id, s.carrier
FROM orders AS o
LEFT JOIN shipments AS s
  ON s.order_id = o.order_id
  AND o.ordered_at >= s.shipped_at - INTERVAL '2' DAY AND o.ordered_at < s.shipped_at
WHERE o.paid;
