-- For a screen: shown at once, corrected whenever a sale comes late. In the end this is the truth.
CREATE STREAMING VIEW revenue (revenue COMMENT 'EUR')
COMMENT 'Revenue per hour, corrected'
AS
SELECT date_trunc('hour', sold_at) AS hour, count(*) AS sales, sum(amount) AS revenue
FROM (SELECT DISTINCT sale_id, amount, sold_at FROM sales) AS s
GROUP BY date_trunc('hour', sold_at);
