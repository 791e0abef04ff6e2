-- Final once the hour is over: rows appear once and never change.
CREATE STREAMING VIEW orders_per_hour (revenue COMMENT 'in EUR')
COMMENT 'orders and revenue of each hour'
AS
SELECT window_start, window_end, count(*) AS orders, sum(quantity * price) AS revenue
FROM TUMBLE(orders, ordered_at, INTERVAL '1' HOUR)
GROUP BY window_start, window_end
EMIT ON WINDOW CLOSE;

-- Corrected as orders come in.
CREATE STREAMING VIEW product_totals
COMMENT 'everything sold, by product'
AS
SELECT product, count(*) AS orders, sum(quantity) AS items, max(price) AS highest_price
FROM orders
GROUP BY product;

-- A view on a view.
CREATE STREAMING VIEW busy_hours
AS
SELECT window_start, orders, revenue
FROM orders_per_hour
WHERE orders > 3000;
