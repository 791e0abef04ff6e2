-- A view on a view: the hours are final, so the days only ever grow.
CREATE STREAMING VIEW departures_per_day (
  delayed COMMENT 'by more than 15 minutes',
  busiest_hour COMMENT 'most departures in one hour'
)
COMMENT 'Departures per origin and day (UTC)'
AS
SELECT
  origin,
  date_trunc('day', window_start) AS day,
  sum(departures) AS departures,
  sum(delayed) AS delayed,
  max(departures) AS busiest_hour
FROM departures_per_hour
GROUP BY origin, date_trunc('day', window_start);
