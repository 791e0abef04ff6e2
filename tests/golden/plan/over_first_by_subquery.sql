-- The same as QUALIFY, as engines without it write it.
CREATE STREAMING VIEW v AS
SELECT q.customer, q.order_id
FROM (SELECT customer, order_id, rank() OVER (PARTITION BY customer ORDER BY amount DESC) AS place FROM orders) q
WHERE q.place <= 3;
