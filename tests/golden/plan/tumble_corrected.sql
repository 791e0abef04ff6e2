CREATE STREAMING VIEW per_minute AS
SELECT window_start, count(*) AS orders, avg(price) AS mean
FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE)
GROUP BY window_start
EMIT CHANGES;
