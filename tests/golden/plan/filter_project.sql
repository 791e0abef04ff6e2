CREATE STREAMING VIEW big AS
SELECT order_id, upper(customer) AS customer, amount * 2 AS twice FROM orders WHERE amount > 100;
