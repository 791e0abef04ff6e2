-- The best of each group: a group is a unit, and rows that tie are told apart by every other column.
CREATE STREAMING VIEW v AS
SELECT customer, order_id, amount, row_number() OVER (PARTITION BY customer ORDER BY amount DESC) AS place
FROM orders
QUALIFY place <= 3;
