-- Plain date_trunc on the event time is a tumbling window too.
CREATE STREAMING VIEW planes_per_day
COMMENT 'Different planes per destination and day'
AS
SELECT
  dest,
  date_trunc('day', scheduled) AS day,
  count(*) AS flights,
  approx_distinct(tailnum) AS planes
FROM departures
GROUP BY dest, date_trunc('day', scheduled);
