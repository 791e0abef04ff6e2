-- One view of each kind that starter charts tell apart; bundle.yaml beside it is what they become.
CREATE TABLE orders (
  order_id BIGINT NOT NULL,
  customer VARCHAR COMMENT 'who has ordered',
  amount DECIMAL(10, 2),
  weight DOUBLE,
  ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'data/orders') FORMAT PLAIN ENCODE JSON;

CREATE TABLE customers (id BIGINT PRIMARY KEY, name VARCHAR)
WITH (connector = 'files', path = 'data/customers') FORMAT UPSERT ENCODE JSON;

CREATE STREAMING VIEW totals COMMENT 'All orders: ever'
AS SELECT count(*) AS orders, sum(amount) AS revenue, avg(weight) AS weight, max(ordered_at) AS newest FROM orders;

CREATE STREAMING VIEW per_customer
AS SELECT customer, sum(amount) AS revenue, min(weight) AS lightest, count(DISTINCT order_id) AS distinct_orders,
  sum(weight) FILTER (WHERE amount > 1) AS weight
FROM orders GROUP BY customer;

CREATE STREAMING VIEW best_customers
AS SELECT customer, revenue FROM per_customer ORDER BY revenue DESC LIMIT 3;

CREATE STREAMING VIEW per_minute
AS SELECT customer, window_start, window_end, count(*) AS orders, avg(weight) AS mean_weight
FROM TUMBLE(orders, ordered_at, INTERVAL '1' MINUTE) GROUP BY customer, window_start, window_end
EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW hopping
AS SELECT window_start, window_end, count(*) AS orders
FROM HOP(orders, ordered_at, INTERVAL '5' MINUTE, INTERVAL '15' MINUTE) GROUP BY window_start, window_end
EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW of_hopping
AS SELECT date_trunc('day', window_start) AS day, sum(orders) AS orders FROM hopping GROUP BY date_trunc('day', window_start);

CREATE STREAMING VIEW rolled_up
AS SELECT customer, sum(amount) AS revenue FROM orders GROUP BY ROLLUP (customer);

CREATE STREAMING VIEW heavy
AS SELECT order_id, customer, weight, ordered_at FROM orders WHERE weight > 100;

CREATE STREAMING VIEW named_no
AS SELECT id, name AS no FROM customers;

CREATE STREAMING VIEW elsewhere WITH (format = 'delta')
AS SELECT customer, count(*) AS orders FROM orders GROUP BY customer;
