CREATE STREAMING VIEW regulars AS
SELECT customer, count(*) AS orders FROM orders WHERE paid GROUP BY customer HAVING count(*) > 3;
