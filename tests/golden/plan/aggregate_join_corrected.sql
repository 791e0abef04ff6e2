-- Each item of an inner join changes by itself, those before it as they were.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS
SELECT o.paid, sum(s.spent) AS spent, count(*) FILTER (WHERE o.quantity > 1) AS several
FROM orders AS o JOIN spent AS s ON s.customer = o.customer
GROUP BY o.paid;
