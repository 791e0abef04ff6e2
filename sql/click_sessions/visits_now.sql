-- Who is in the shop? The clock of a view is its watermark, so a replay shows the same visitors.
CREATE STREAMING VIEW visits_now (page COMMENT 'of the last click')
COMMENT 'Visitors with a click in the last half hour'
AS
SELECT
  visitor,
  count(DISTINCT click_id) AS clicks,
  max(clicked_at) AS last_click,
  max_by(page, clicked_at) AS page
FROM clicks
WHERE clicked_at > watermark() - INTERVAL '30' MINUTE
GROUP BY visitor;
