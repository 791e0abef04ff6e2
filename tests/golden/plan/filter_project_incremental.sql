CREATE STREAMING VIEW big WITH (engine = 'incremental') AS
SELECT order_id, amount FROM orders WHERE amount > 100;
