CREATE STREAMING VIEW top WITH (engine = 'full') AS
SELECT customer, count(*) AS orders FROM orders GROUP BY customer;
