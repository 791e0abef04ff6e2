-- Groups over an outer join of corrected rows: those who have nothing are there, and go when something comes.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW v AS
SELECT s.customer, count(r.order_id) AS returned, sum(r.amount) AS amount
FROM spent AS s LEFT JOIN returns AS r ON r.amount = s.spent
GROUP BY s.customer;
