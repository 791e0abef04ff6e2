-- What is billed: traffic by the plan of that time.
CREATE STREAMING VIEW usage_per_hour (megabytes COMMENT 'MB')
COMMENT 'Traffic per plan and hour, final'
AS
SELECT coalesce(plan, 'unknown') AS plan, window_start, count(*) AS events, sum(megabytes) AS megabytes
FROM TUMBLE(enriched, happened_at, INTERVAL '1' HOUR)
GROUP BY coalesce(plan, 'unknown'), window_start
EMIT ON WINDOW CLOSE;

-- What a dashboard shows at once: the users as they are NOW. Each change of a profile moves its
-- older events, too.
CREATE STREAMING VIEW traffic_per_country (megabytes COMMENT 'MB')
COMMENT 'Traffic by the country in which the users live now'
AS
SELECT p.country, count(DISTINCT e.user_id) AS users, count(*) AS events, sum(e.megabytes) AS megabytes
FROM (SELECT DISTINCT event_id, user_id, megabytes FROM events) AS e
JOIN profiles AS p ON p.user_id = e.user_id
GROUP BY p.country;
