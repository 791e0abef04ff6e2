CREATE TABLE orders (
  order_id BIGINT NOT NULL,
  customer VARCHAR,
  amount DECIMAL(10, 2),
  price DOUBLE,
  quantity INTEGER,
  paid BOOLEAN,
  tags ARRAY(VARCHAR),
  ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '10' SECOND
) WITH (connector = 'files', path = 'orders') FORMAT PLAIN ENCODE JSON;

CREATE TABLE shipments (
  order_id BIGINT,
  carrier VARCHAR,
  shipped_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR shipped_at AS shipped_at - INTERVAL '1' MINUTE
) WITH (connector = 'files', path = 'shipments') FORMAT PLAIN ENCODE JSON;

CREATE TABLE returns (
  order_id BIGINT,
  amount DECIMAL(10, 2)
) WITH (connector = 'files', path = 'returns') FORMAT PLAIN ENCODE JSON;

CREATE SOURCE clicks (
  user_id BIGINT,
  url VARCHAR,
  at TIMESTAMP,
  WATERMARK FOR at AS at - INTERVAL '5' SECOND
) WITH (connector = 'files', path = 'clicks') FORMAT PLAIN ENCODE JSON;
