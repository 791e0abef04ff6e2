CREATE STREAMING VIEW clicks_per_minute AS
SELECT url, window_end, count(*) AS clicks
FROM TUMBLE(clicks, at, INTERVAL '1' MINUTE)
GROUP BY url, window_end
EMIT ON WINDOW CLOSE;
