-- An inner join of tables without bounds on time: what is appended to one is joined with the other.
CREATE STREAMING VIEW v AS
SELECT o.customer, s.carrier, o.amount
FROM orders AS o JOIN shipments AS s ON s.order_id = o.order_id;
