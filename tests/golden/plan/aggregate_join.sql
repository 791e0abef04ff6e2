-- What one table gains is joined with the other, aggregated and merged.
CREATE STREAMING VIEW v AS
SELECT o.customer, count(*) AS shipped, max(s.shipped_at) AS newest
FROM orders AS o JOIN shipments AS s ON s.order_id = o.order_id
GROUP BY o.customer;
