CREATE STREAMING VIEW doubled AS
WITH paid AS (SELECT customer, price * 2 AS price FROM orders WHERE paid)
SELECT customer, max(price) AS most FROM paid WHERE price > 1 GROUP BY customer;
