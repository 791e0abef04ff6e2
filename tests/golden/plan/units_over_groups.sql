-- What a subquery says of groups is asked of the rows of a subquery; IN is NULL where SQL says so.
CREATE STREAMING VIEW v AS
SELECT customer, count(*) AS orders, max(order_id) IN (SELECT order_id FROM returns) AS returned
FROM orders AS o GROUP BY customer HAVING EXISTS (SELECT 1 FROM shipments AS s WHERE s.carrier = o.customer);
