CREATE STREAMING VIEW total AS SELECT count(*) AS orders, max(price) AS dearest FROM orders;
