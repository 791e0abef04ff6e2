CREATE STREAMING VIEW shipped LATE ROWS ACCEPT FOR INTERVAL '1' HOUR AS
SELECT o.order_id, o.customer, s.carrier, s.shipped_at
FROM orders AS o
JOIN shipments AS s
  ON s.order_id = o.order_id
  AND s.shipped_at BETWEEN o.ordered_at AND o.ordered_at + INTERVAL '2' DAY
WHERE o.paid AND o.quantity > length(s.carrier);
