-- An aggregate of an aggregate, joined: the subquery has units of its own.
CREATE STREAMING VIEW v AS
SELECT q.orders, count(*) AS customers, sum(r.amount) AS returned
FROM (SELECT customer, count(*) AS orders, max(order_id) AS last FROM orders GROUP BY customer) AS q
LEFT JOIN returns AS r ON r.order_id = q.last
GROUP BY q.orders;
