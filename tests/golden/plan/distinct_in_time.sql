CREATE STREAMING VIEW seen AS SELECT DISTINCT customer, ordered_at FROM orders;
