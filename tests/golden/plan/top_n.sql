-- Top-N without groups: one unit.
CREATE STREAMING VIEW v AS
SELECT customer, count(*) AS n FROM orders GROUP BY customer ORDER BY n DESC LIMIT 10;
