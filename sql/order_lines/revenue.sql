CREATE STREAMING VIEW revenue_per_city (amount COMMENT 'EUR')
COMMENT 'Paid and shipped orders by the city in which the customer lives now'
AS
SELECT city, count(*) AS orders, sum(amount) AS amount
FROM order_lines
WHERE status <> 'new'
GROUP BY city;

-- A database with foreign keys has no orphans. Its three logs come independently, so for a moment
-- an order can be here before its customer.
CREATE STREAMING VIEW orphans
COMMENT 'Orders whose customer, or whose price at that time, is not known'
AS
SELECT order_id, placed_at, customer IS NULL AS without_customer, price IS NULL AS without_price
FROM order_lines
WHERE customer IS NULL OR price IS NULL;

-- After a restart Debezium sends some events again; the history has each once.
CREATE STREAMING VIEW price_changes (
  price COMMENT 'of one piece, EUR', before COMMENT 'the price until then, EUR'
)
COMMENT 'History of the prices, from the change log'
AS
SELECT product_id, name, changed_at, price,
  lag(price) OVER (PARTITION BY product_id ORDER BY changed_at) AS before
FROM (
  SELECT DISTINCT id AS product_id, name, changed_at, price
  FROM products__changes WHERE _change_type = 'UPSERT'
) AS p;
