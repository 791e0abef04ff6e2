-- Nobody pays for these: the advertisement was shown earlier than 30 minutes before, or never.
CREATE STREAMING VIEW stray_clicks
COMMENT 'Clicks without an impression in the 30 minutes before'
AS
SELECT DISTINCT c.click_id, c.impression_id, c.clicked_at
FROM clicks AS c
WHERE NOT EXISTS (
  SELECT 1
  FROM impressions AS i
  WHERE i.impression_id = c.impression_id
    AND c.clicked_at BETWEEN i.shown_at AND i.shown_at + INTERVAL '30' MINUTE
)
EMIT ON WINDOW CLOSE;
