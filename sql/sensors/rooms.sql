-- All devices of a room at one look. A CASE, a FILTER or a join may ask for the present as well.
CREATE STREAMING VIEW rooms (
  silent COMMENT 'devices without a reading in the last five minutes',
  lively COMMENT 'devices with more than 50 readings in the last hour'
)
COMMENT 'How many devices of a room report'
AS
SELECT
  d.room,
  count(*) AS devices,
  count(*) FILTER (WHERE l.last_seen IS NULL OR l.last_seen < watermark() - INTERVAL '5' MINUTE) AS silent,
  count(*) FILTER (WHERE l.of_an_hour > 50) AS lively
FROM devices AS d
LEFT JOIN (
  SELECT
    device,
    max(ts) AS last_seen,
    count(DISTINCT CASE WHEN ts > watermark() - INTERVAL '1' HOUR THEN ts END) AS of_an_hour
  FROM readings
  GROUP BY device
) AS l ON l.device = d.device
GROUP BY d.room;
