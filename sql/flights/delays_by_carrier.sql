-- Corrected with every batch.
CREATE STREAMING VIEW delays_by_carrier (
  mean_delay COMMENT 'minutes',
  worst_delay COMMENT 'minutes',
  p90_delay COMMENT 'minutes that nine of ten flights do not exceed'
)
COMMENT 'Departure delay per carrier'
AS
SELECT
  carrier,
  count(*) AS flights,
  avg(delay) AS mean_delay,
  max(delay) AS worst_delay,
  approx_percentile(delay, 0.9) AS p90_delay
FROM departures
GROUP BY carrier
EMIT CHANGES;
