-- Windows and lateness are of the row: each state of an input has them.
CREATE STREAMING VIEW newest AS
SELECT customer, max(ordered_at) AS newest FROM orders GROUP BY customer;
CREATE STREAMING VIEW v LATE ROWS DROP AS
SELECT o.window_start, o.window_end, n.newest, count(*) AS orders, avg(o.quantity) AS mean
FROM TUMBLE(orders, ordered_at, INTERVAL '1' HOUR) AS o
JOIN newest AS n ON n.customer = o.customer
GROUP BY o.window_start, o.window_end, n.newest;
