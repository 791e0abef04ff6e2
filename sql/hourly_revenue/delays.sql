-- Look before you choose a watermark: how late are sales, device by device?
CREATE STREAMING VIEW delays (
  late COMMENT 'sales that took more than ten minutes',
  late_percent COMMENT 'percent of the sales',
  p50 COMMENT 'seconds that half of the sales do not exceed',
  p995 COMMENT 'seconds that 995 of 1,000 sales do not exceed'
)
COMMENT 'From the sale to the gateway'
AS
SELECT
  device,
  count(*) AS sales,
  count_if(received_at > sold_at + INTERVAL '10' MINUTE) AS late,
  100e0 * count_if(received_at > sold_at + INTERVAL '10' MINUTE) / count(*) AS late_percent,
  approx_percentile(date_diff('second', sold_at, received_at), 0.5) AS p50,
  approx_percentile(date_diff('second', sold_at, received_at), 0.995) AS p995
FROM (SELECT DISTINCT sale_id, device, sold_at, received_at FROM sales) AS s
GROUP BY device;
