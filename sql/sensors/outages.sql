-- What was silent before. A reading after a gap ends an outage; late readings can fill the gap, and
-- the outage leaves the view or shrinks.
CREATE STREAMING VIEW outages (
  began COMMENT 'the last reading before',
  minutes COMMENT 'until the next reading'
)
COMMENT 'Gaps of more than five minutes between two readings'
AS
SELECT device, before AS began, ts AS ended, date_diff('minute', before, ts) AS minutes
FROM (
  SELECT device, ts, lag(ts) OVER (PARTITION BY device ORDER BY ts) AS before
  FROM readings
) AS r
WHERE ts > before + INTERVAL '5' MINUTE;
