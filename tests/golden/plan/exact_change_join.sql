-- Both sides are corrected, and the row has a key: what comes and goes is merged by it.
CREATE STREAMING VIEW spent AS SELECT customer, sum(amount) AS spent FROM orders GROUP BY customer;
CREATE STREAMING VIEW owed AS SELECT order_id, max(amount) AS owed FROM returns GROUP BY order_id;
CREATE STREAMING VIEW v AS
SELECT s.customer, o.order_id AS "Order", s.spent - o.owed AS "left over"
FROM spent AS s JOIN owed AS o ON s.spent > o.owed
WHERE s.spent > 0;
