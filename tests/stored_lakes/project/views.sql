CREATE TABLE orders (
  id INTEGER, who VARCHAR, qty INTEGER,
  ts TIMESTAMP WITH TIME ZONE, WATERMARK FOR ts AS ts - INTERVAL '15' MINUTE
) WITH (connector = 'files', path = 'in') FORMAT PLAIN ENCODE JSON;

CREATE STREAMING VIEW large COMMENT 'orders of many' AS SELECT id, who, qty FROM orders WHERE qty > 3;

CREATE STREAMING VIEW per_hour LATE ROWS DROP INTO late AS
SELECT window_start, count(*) AS n FROM TUMBLE(orders, ts, INTERVAL '1' HOUR)
GROUP BY window_start, window_end EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW per_who AS
SELECT who, count(*) AS n, avg(qty) AS mean, approx_distinct(id) AS ids FROM orders GROUP BY who;

CREATE STREAMING VIEW busy AS SELECT window_start, n FROM per_hour WHERE n > 1;
