-- The clock of a view is its watermark, so a replay shows the same hour.
CREATE STREAMING VIEW pages_now (
  views COMMENT 'each view once, however often it was sent',
  users COMMENT 'different users',
  p99_ms COMMENT 'milliseconds that 99 of 100 views do not exceed'
)
COMMENT 'The last hour, page by page'
AS
SELECT
  page,
  count(*) AS views,
  count(DISTINCT user_id) AS users,
  percentile_disc(0.99) WITHIN GROUP (ORDER BY load_ms) AS p99_ms
FROM (
  SELECT DISTINCT view_id, page, user_id, load_ms, viewed_at
  FROM page_views
  WHERE viewed_at > watermark() - INTERVAL '1' HOUR
) AS v
GROUP BY page;
