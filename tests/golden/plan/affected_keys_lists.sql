-- A list has no state but its rows, so it is made anew for the keys that a change touches.
CREATE STREAMING VIEW v AS
SELECT customer, array_agg(order_id ORDER BY ordered_at DESC) AS orders, listagg(DISTINCT customer, ', ') WITHIN GROUP (ORDER BY customer) AS names
FROM orders GROUP BY customer;
