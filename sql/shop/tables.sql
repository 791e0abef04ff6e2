-- The shop's tables as PostgreSQL has them. Each topic holds the changes of one table as Debezium writes
-- them; Headwater keeps the newest row of each key, so inserts, updates and deletes all arrive here.
--
-- The changes themselves can be read too: orders__changes, customers__changes, products__changes.
CREATE TABLE orders (
  id BIGINT,
  customer_id BIGINT NOT NULL,
  product_id BIGINT NOT NULL,
  quantity INTEGER NOT NULL COMMENT 'pieces',
  -- numeric(12, 2): the scale must be that of the database
  amount DECIMAL(12, 2) NOT NULL COMMENT 'of all pieces, in EUR',
  status VARCHAR NOT NULL,                  -- an enum of PostgreSQL is text
  placed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  PRIMARY KEY (id)
) WITH (connector = 'kafka', topic = 'shop.public.orders', bootstrap_servers = 'localhost:9092')
-- the mode is decimal.handling.mode of connector.json; a snapshot taken again ends what it lacks
FORMAT DEBEZIUM ENCODE JSON (decimals = 'string', snapshot = 'replace');

CREATE TABLE customers (
  id BIGINT,
  name VARCHAR NOT NULL,
  city VARCHAR,
  changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  PRIMARY KEY (id)
) WITH (connector = 'kafka', topic = 'shop.public.customers', bootstrap_servers = 'localhost:9092')
FORMAT DEBEZIUM ENCODE JSON (snapshot = 'replace');  -- no DECIMAL, DATE or TIMESTAMP: no mode to be named

CREATE TABLE products (
  id BIGINT,
  name VARCHAR NOT NULL,
  price DECIMAL(12, 2) NOT NULL COMMENT 'of one piece, in EUR',
  stock INTEGER NOT NULL COMMENT 'pieces',
  reorder_at INTEGER NOT NULL COMMENT 'pieces left at which more are ordered',
  changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  PRIMARY KEY (id)
) WITH (connector = 'kafka', topic = 'shop.public.products', bootstrap_servers = 'localhost:9092')
FORMAT DEBEZIUM ENCODE JSON (decimals = 'string', snapshot = 'replace');
