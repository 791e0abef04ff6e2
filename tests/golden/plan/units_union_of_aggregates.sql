-- Branches have units of their own; the global one has its row even without rows.
CREATE STREAMING VIEW v AS
SELECT customer, count(*) AS n FROM orders GROUP BY customer
UNION ALL
SELECT 'all', count(*) FROM returns;
