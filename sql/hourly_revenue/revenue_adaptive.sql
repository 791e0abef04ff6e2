-- Final, for the books: an hour appears once. It waits as long as 995 of 1,000 sales need.
CREATE STREAMING VIEW revenue_adaptive (revenue COMMENT 'EUR')
COMMENT 'Revenue per hour, final; the watermark is adaptive'
LATE ROWS DROP INTO late_adaptive
AS
SELECT hour, count(*) AS sales, sum(amount) AS revenue
FROM (
  SELECT DISTINCT window_start AS hour, sale_id, amount
  FROM TUMBLE(sales_adaptive, sold_at, INTERVAL '1' HOUR)
) AS s
GROUP BY hour
EMIT ON WINDOW CLOSE;
