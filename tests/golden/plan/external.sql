CREATE TABLE bought (id BIGINT, customer VARCHAR, amount DECIMAL(10, 2))
WITH (connector = 'iceberg', table = 'shop.orders');

CREATE STREAMING VIEW per_customer AS
SELECT customer, count(*) AS orders, sum(amount) AS revenue FROM bought GROUP BY customer;
