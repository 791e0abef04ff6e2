-- OVER of groups: the unit is what both the groups and the windows have in common.
CREATE STREAMING VIEW v AS
SELECT customer, paid, count(*) AS n, sum(count(*)) OVER (PARTITION BY customer) AS of_customer
FROM orders
GROUP BY customer, paid;
