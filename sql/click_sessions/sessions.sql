-- A session ends with half an hour of silence, and is final then. A click that arrives after that
-- would make one session of two that are final; it is set aside.
CREATE STREAMING VIEW sessions (
  clicks COMMENT 'each once, however often it was sent',
  minutes COMMENT 'from the first click to the last',
  paid COMMENT 'whether the visitor bought something'
)
COMMENT 'Visits: the clicks of a visitor with less than half an hour between them'
LATE ROWS DROP INTO late_clicks
AS
SELECT
  visitor,
  window_start AS began_at,
  max(clicked_at) AS ended_at,
  date_diff('second', window_start, max(clicked_at)) / 60e0 AS minutes,
  count(*) AS clicks,
  coalesce(min_by(source, clicked_at), 'direct') AS source,
  min_by(page, clicked_at) AS first_page,
  max_by(page, clicked_at) AS last_page,
  bool_or(page = 'cart') AS cart,
  bool_or(page = 'paid') AS paid
FROM SESSION(
  (SELECT DISTINCT click_id, visitor, page, source, clicked_at FROM clicks) PARTITION BY visitor,
  clicked_at, INTERVAL '30' MINUTE
)
GROUP BY visitor, window_start, window_end
EMIT ON WINDOW CLOSE;
