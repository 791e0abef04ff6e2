-- Final, for the books: an hour appears once. It waits ten minutes, whatever comes.
CREATE STREAMING VIEW revenue_fixed (revenue COMMENT 'EUR')
COMMENT 'Revenue per hour, final; the watermark is fixed'
LATE ROWS DROP INTO late_fixed
AS
SELECT hour, count(*) AS sales, sum(amount) AS revenue
FROM (
  SELECT DISTINCT window_start AS hour, sale_id, amount
  FROM TUMBLE(sales, sold_at, INTERVAL '1' HOUR)
) AS s
GROUP BY hour
EMIT ON WINDOW CLOSE;
