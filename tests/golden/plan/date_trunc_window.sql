CREATE STREAMING VIEW per_hour AS
SELECT date_trunc('hour', ordered_at) AS hour, count(*) AS orders FROM orders GROUP BY 1
EMIT ON WINDOW CLOSE;
