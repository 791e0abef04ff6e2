-- Impressions are final when they come here, so a rate never counts one that may yet be clicked.
CREATE STREAMING VIEW click_rates (
  clicked COMMENT 'impressions with a click',
  rate COMMENT 'percent of the impressions with a click',
  double_clicks COMMENT 'clicks after the first of an impression'
)
COMMENT 'Clicks per campaign, site and quarter of an hour'
AS
SELECT
  window_start AS quarter,
  campaign,
  site,
  count(*) AS impressions,
  count(clicked_at) AS clicked,
  100e0 * count(clicked_at) / count(*) AS rate,
  sum(clicks) - count(clicked_at) AS double_clicks
FROM TUMBLE(impression_clicks, shown_at, INTERVAL '15' MINUTE)
GROUP BY window_start, campaign, site;
