CREATE STREAMING VIEW noise_per_hour (suppressed COMMENT 'requests that were not sent')
COMMENT 'Messages and suppressed requests per topic and hour, final'
AS
SELECT topic, window_start, count(*) AS messages, sum(suppressed) AS suppressed
FROM TUMBLE(reminders, requested_at, INTERVAL '1' HOUR)
GROUP BY topic, window_start
EMIT ON WINDOW CLOSE;
