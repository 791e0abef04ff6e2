-- An order that is cancelled or deleted later is taken out of its minute again.
CREATE STREAMING VIEW revenue_per_minute (
  minute COMMENT 'its beginning, UTC',
  revenue COMMENT 'in EUR'
)
COMMENT 'Orders and revenue per minute (UTC), without what was cancelled'
AS
SELECT date_trunc('minute', placed_at) AS minute, count(*) AS orders, sum(amount) AS revenue
FROM orders
WHERE status <> 'cancelled'
GROUP BY date_trunc('minute', placed_at);
