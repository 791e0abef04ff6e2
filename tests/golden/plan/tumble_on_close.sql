CREATE STREAMING VIEW per_minute PARTITIONED BY (day(window_start)) LATE ROWS DROP INTO tardy AS
SELECT window_start, window_end, customer, count(*) AS orders, sum(amount) AS revenue
FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE)
WHERE paid
GROUP BY window_start, window_end, customer
EMIT ON WINDOW CLOSE;
