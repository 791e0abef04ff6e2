-- Both sides can be NULL: the unit is a function of both.
CREATE STREAMING VIEW v AS
SELECT o.order_id, r.order_id AS returned
FROM orders AS o FULL JOIN returns AS r ON r.order_id = o.order_id;
