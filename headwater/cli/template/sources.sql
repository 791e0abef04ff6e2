-- Where rows come from. This generator makes 10,000 orders, up to a minute out of order.
-- Replace it by your own, for example:
--   WITH (connector = 'files', path = 'incoming/orders') FORMAT PLAIN ENCODE JSON
CREATE TABLE orders (
  order_id BIGINT,
  product VARCHAR,
  quantity INTEGER COMMENT 'pieces',
  price DOUBLE COMMENT 'of one piece, in EUR',
  ordered_at TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ordered_at AS ordered_at - INTERVAL '2' MINUTE
)
COMMENT 'orders as they come in'
WITH (
  connector = 'datagen',
  number_of_rows = 10000,
  rows_per_second = 1,
  max_rows_per_epoch = 2500,
  seed = 1,
  fields.order_id.kind = 'sequence',
  fields.product.kind = 'values',
  fields.product.values = 'apple,banana,cherry,date',
  fields.quantity.kind = 'random',
  fields.quantity.min = 1,
  fields.quantity.max = 9,
  fields.price.kind = 'random',
  fields.price.min = 1,
  fields.price.max = 20,
  fields.ordered_at.kind = 'time',
  fields.ordered_at.max_lateness = '1 minute'
);
