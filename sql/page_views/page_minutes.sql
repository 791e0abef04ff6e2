-- A minute is shown at once and corrected for an hour, because phones send late. What comes after
-- that hour is set aside: the numbers of yesterday no longer move.
CREATE STREAMING VIEW page_minutes (
  views COMMENT 'each view once, however often it was sent',
  users COMMENT 'different users; those of two minutes cannot be added up',
  p99_ms COMMENT 'milliseconds that 99 of 100 views do not exceed'
)
COMMENT 'Views, users and load time per page and minute'
LATE ROWS ACCEPT FOR INTERVAL '1' HOUR INTO late_page_views
AS
SELECT
  minute,
  page,
  count(*) AS views,
  count(DISTINCT user_id) AS users,
  percentile_disc(0.99) WITHIN GROUP (ORDER BY load_ms) AS p99_ms
FROM (
  SELECT DISTINCT window_start AS minute, view_id, page, user_id, load_ms
  FROM TUMBLE(page_views, viewed_at, INTERVAL '1' MINUTE)
) AS v
GROUP BY minute, page;
