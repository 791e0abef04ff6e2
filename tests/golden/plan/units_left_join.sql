-- An outer join that is corrected: matched and unmatched rows of an order are one unit.
CREATE STREAMING VIEW v AS
SELECT o.order_id, o.customer, r.amount AS returned
FROM orders AS o LEFT JOIN returns AS r ON r.order_id = o.order_id
WHERE o.paid;
