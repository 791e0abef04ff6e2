-- The broker delivers at least once, and terminals without a connection send their payments later.
CREATE TABLE payments (
  payment_id BIGINT NOT NULL,
  card BIGINT NOT NULL,
  city VARCHAR NOT NULL COMMENT 'of the terminal',
  amount DECIMAL(10, 2) NOT NULL COMMENT 'USD',
  approved BOOLEAN NOT NULL COMMENT 'false if the payment failed',
  paid_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR paid_at AS paid_at - INTERVAL '10' MINUTE
)
COMMENT 'Attempts to pay by card, as terminals send them; some come twice'
WITH (connector = 'files', path = 'data/payments', ordering = 'name') FORMAT PLAIN ENCODE JSON;
