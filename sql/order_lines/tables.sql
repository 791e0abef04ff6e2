-- Three tables of a PostgreSQL, as Debezium writes their changes (decimal.handling.mode = string).
-- Each table holds the newest row of each key; updates and deletes reach every view.
CREATE TABLE customers (
  id BIGINT PRIMARY KEY,
  name VARCHAR NOT NULL,
  city VARCHAR NOT NULL
)
WITH (connector = 'files', path = 'data/customers') FORMAT DEBEZIUM ENCODE JSON;

CREATE TABLE products (
  id BIGINT PRIMARY KEY,
  name VARCHAR NOT NULL,
  price DECIMAL(10, 2) NOT NULL COMMENT 'of one piece, EUR',
  changed_at TIMESTAMP WITH TIME ZONE METADATA FROM 'source.ts_ms' COMMENT 'by the clock of the database',
  WATERMARK FOR changed_at AS changed_at - INTERVAL '1' MINUTE
)
WITH (connector = 'files', path = 'data/products') FORMAT DEBEZIUM ENCODE JSON (decimals = 'string');

CREATE TABLE orders (
  id BIGINT PRIMARY KEY,
  customer_id BIGINT NOT NULL,
  product_id BIGINT NOT NULL,
  quantity INTEGER NOT NULL COMMENT 'pieces',
  status VARCHAR NOT NULL COMMENT 'new, paid or shipped',
  placed_at TIMESTAMP WITH TIME ZONE NOT NULL
)
WITH (connector = 'files', path = 'data/orders') FORMAT DEBEZIUM ENCODE JSON;
