-- A change of a subquery touches the rows that it can say something else of.
CREATE STREAMING VIEW v AS
SELECT order_id, customer FROM orders AS o
WHERE EXISTS (SELECT 1 FROM shipments AS s WHERE s.order_id = o.order_id)
AND order_id NOT IN (SELECT order_id FROM returns)
AND amount > (SELECT avg(price) FROM orders);
