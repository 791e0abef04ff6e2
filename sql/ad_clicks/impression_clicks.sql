-- One row per impression, clicked or not. The group makes one row of records that came twice, and
-- of two clicks on one advertisement. Half an hour after it was shown, an impression is final.
CREATE STREAMING VIEW impression_clicks (
  clicked_at COMMENT 'the first click; NULL if there was none within 30 minutes',
  clicks COMMENT 'different clicks'
)
COMMENT 'Impressions with their clicks within 30 minutes'
AS
SELECT
  i.impression_id,
  i.campaign,
  i.site,
  i.shown_at,
  min(c.clicked_at) AS clicked_at,
  count(DISTINCT c.click_id) AS clicks
FROM impressions AS i
LEFT JOIN clicks AS c
  ON c.impression_id = i.impression_id
  AND c.clicked_at BETWEEN i.shown_at AND i.shown_at + INTERVAL '30' MINUTE
GROUP BY i.impression_id, i.campaign, i.site, i.shown_at
EMIT ON WINDOW CLOSE;
