CREATE STREAMING VIEW variety AS
SELECT customer, count(DISTINCT quantity) AS quantities, stddev(price) AS spread FROM orders GROUP BY customer;
