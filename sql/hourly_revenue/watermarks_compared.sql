-- An hour that is still open is NULL: it is not wrong, it is not there.
CREATE STREAMING VIEW watermarks_compared (
  revenue COMMENT 'EUR, with every sale that came late',
  fixed_lacks COMMENT 'EUR that the books by the fixed watermark lack; NULL while the hour is open',
  adaptive_lacks COMMENT 'EUR that the books by the adaptive watermark lack; NULL while the hour is open'
)
COMMENT 'What each watermark costs, hour by hour'
AS
SELECT
  r.hour,
  r.revenue,
  r.revenue - f.revenue AS fixed_lacks,
  r.revenue - a.revenue AS adaptive_lacks
FROM revenue AS r
LEFT JOIN revenue_fixed AS f ON f.hour = r.hour
LEFT JOIN revenue_adaptive AS a ON a.hour = r.hour;
