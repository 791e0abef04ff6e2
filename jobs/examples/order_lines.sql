-- A day of a shop's database, and what Debezium makes of it: an event for each change of a row, in
-- the order of each table. At noon every customer from Bonn moves to Cologne. From 18:00 to 18:05
-- all prices are a hundred times too high, by mistake.
SET VARIABLE customers = at_size(500, 20000);
SET VARIABLE products = at_size(60, 2000);
SET VARIABLE orders = at_size(6000, 200000);
CREATE TEMP MACRO at_second(after_midnight) AS TIMESTAMPTZ '2026-03-02 00:00:00Z' + seconds(after_midnight::DOUBLE);
CREATE TEMP MACRO price_of(i, n) AS (100 + pick(i, 'price' || n, 9900))::DECIMAL(10, 2) / 100;

-- The rows as they are after each change; a row that is deleted has gone.
CREATE TEMP TABLE customer AS
SELECT id, changed, false AS gone, 'Customer ' || id AS name,
  one_of(id, 'city', ['Berlin', 'Bonn', 'Bremen', 'Cologne', 'Hamburg', 'Munich']) AS city
FROM (
  -- Two in three are there in the morning, the others register during the day.
  SELECT i AS id, at_second(CASE WHEN i % 3 < 2 THEN 0 ELSE 80000 * uniform(i, 'registers') END) AS changed
  FROM range(getvariable('customers')) AS r(i)
);
INSERT INTO customer
SELECT id, at_second(43200), false, name, 'Cologne' FROM customer WHERE city = 'Bonn' AND changed < at_second(43200);
UPDATE customer SET city = 'Cologne' WHERE city = 'Bonn' AND changed > at_second(43200);

CREATE TEMP TABLE product AS
SELECT i AS id, at_second(0) AS changed, false AS gone, price_of(i, 0) AS price FROM range(getvariable('products')) AS r(i)
UNION ALL
SELECT i, at_second(3600 * n), false, price_of(i, n)
FROM range(getvariable('products')) AS r(i), range(2, 18, 5) AS h(n)
UNION ALL
SELECT i, at_second(64800), false, 100 * price_of(i, 17) FROM range(getvariable('products')) AS r(i)
UNION ALL
SELECT i, at_second(65100), false, price_of(i, 17) FROM range(getvariable('products')) AS r(i)
UNION ALL
-- Nobody buys the last ones any more after 20:00, and they are deleted.
SELECT i, at_second(79200), true, NULL FROM range(getvariable('products') - 3, getvariable('products')) AS r(i);

CREATE TEMP TABLE bought AS
SELECT
  row_number() OVER (ORDER BY placed, i) AS id,
  pick(i, 'customer', getvariable('customers')) AS customer_id,
  pick(i, 'product', getvariable('products') - CASE WHEN placed > at_second(72000) THEN 3 ELSE 0 END) AS product_id,
  1 + exponential(i, 'quantity', 1.5)::INTEGER AS quantity,
  placed
FROM (
  -- Every hundredth order is placed at the very moment at which prices change.
  SELECT i, at_second(CASE WHEN i % 100 = 0 THEN 3600 * (2 + 5 * pick(i, 'hour', 4)) ELSE 82000 * uniform(i, 'placed') END) AS placed
  FROM range(getvariable('orders')) AS r(i)
);
UPDATE bought SET customer_id = customer_id - customer_id % 3
WHERE placed <= (SELECT max(changed) FROM customer WHERE id = customer_id AND changed <> at_second(43200));

CREATE TEMP TABLE "order" AS
SELECT b.*, placed + seconds(n * (30 + exponential(id, 'step', 1200))) AS changed, gone, status
FROM bought AS b,
  (VALUES (0, false, 'new'), (1, false, 'paid'), (2, false, 'shipped'), (2, true, NULL)) AS s(n, gone, status)
-- One in twenty is never paid and cancelled, one in ten is not shipped today.
WHERE CASE WHEN pick(id, 'end', 20) = 0 THEN n = 0 OR gone
  WHEN pick(id, 'end', 20) < 3 THEN n < 2 ELSE NOT gone END;

-- The events. Debezium is restarted at 6, 12 and 18 o'clock, and sends the last ten minutes again.
CREATE TEMP MACRO sent(changed) AS CASE
  WHEN minute(changed) >= 50 AND hour(changed) % 6 = 5
  THEN [changed, date_trunc('hour', changed) + INTERVAL 1 HOUR] ELSE [changed] END;
CREATE TEMP MACRO op(changed, gone, first) AS
  CASE WHEN gone THEN 'd' WHEN NOT first THEN 'u' WHEN changed = at_second(0) THEN 'r' ELSE 'c' END;
CREATE TEMP MACRO source_of(changed) AS {'db': 'shop', 'ts_ms': epoch_ms(changed)};

CREATE TEMP TABLE customers AS
SELECT
  CASE WHEN gone OR NOT first THEN {'id': id} END AS before,
  CASE WHEN NOT gone THEN {'id': id, 'name': name, 'city': city} END AS after,
  op(changed, gone, first) AS op, source_of(changed) AS source, sent(changed) AS _arrivals
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY changed) = 1 AS first FROM customer)
ORDER BY changed, id;

CREATE TEMP TABLE products AS
SELECT
  CASE WHEN gone OR NOT first THEN {'id': id} END AS before,
  CASE WHEN NOT gone THEN {'id': id, 'name': 'Product ' || id, 'price': price::DECIMAL(10, 2)::VARCHAR} END AS after,
  op(changed, gone, first) AS op, source_of(changed) AS source, sent(changed) AS _arrivals
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY changed) = 1 AS first FROM product)
ORDER BY changed, id;

CREATE TEMP TABLE orders AS
SELECT
  CASE WHEN gone OR NOT first THEN {'id': id} END AS before,
  CASE WHEN NOT gone THEN {
    'id': id, 'customer_id': customer_id, 'product_id': product_id, 'quantity': quantity,
    'status': status, 'placed_at': strftime(placed, '%Y-%m-%dT%H:%M:%S.%fZ')} END AS after,
  op(changed, gone, first) AS op, source_of(changed) AS source, sent(changed) AS _arrivals
FROM (SELECT *, row_number() OVER (PARTITION BY id ORDER BY changed) = 1 AS first FROM "order")
ORDER BY changed, id;
