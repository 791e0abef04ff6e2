-- Final once the hour is closed; flights that leave after that are counted and kept apart.
CREATE STREAMING VIEW departures_per_hour (delayed COMMENT 'by more than 15 minutes')
COMMENT 'Departures per origin and scheduled hour, final'
PARTITIONED BY (month(window_start))
LATE ROWS DROP INTO late_departures
AS
SELECT
  origin,
  window_start,
  window_end,
  count(*) AS departures,
  count_if(delay > 15) AS delayed
FROM TUMBLE(departures, scheduled, INTERVAL '1' HOUR)
GROUP BY origin, window_start, window_end
EMIT ON WINDOW CLOSE;
