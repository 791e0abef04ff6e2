CREATE STREAMING VIEW movements AS
SELECT order_id, amount FROM orders UNION ALL SELECT order_id, -amount AS amount FROM returns;
