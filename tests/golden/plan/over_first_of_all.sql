-- The first rows of all: what the order is made of is kept in hidden columns, and all rows are one unit.
CREATE STREAMING VIEW v AS
SELECT order_id, price * quantity AS worth
FROM orders
WHERE paid
ORDER BY worth DESC, customer LIMIT 10;
