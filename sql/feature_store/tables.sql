CREATE TABLE payments (
  payment_id BIGINT NOT NULL,
  card BIGINT NOT NULL,
  merchant BIGINT NOT NULL,
  amount DECIMAL(10, 2) NOT NULL COMMENT 'EUR',
  paid_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR paid_at AS paid_at - INTERVAL '10' MINUTE
)
COMMENT 'Card payments; some come twice'
WITH (connector = 'files', path = 'data/payments', ordering = 'name') FORMAT PLAIN ENCODE JSON;

-- The risk of a merchant is raised once frauds are found out. The current one knows the future of
-- every older payment.
CREATE TABLE merchants (
  merchant BIGINT PRIMARY KEY,
  risk INTEGER COMMENT '0 to 9',
  changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR changed_at AS changed_at - INTERVAL '10' MINUTE
)
WITH (connector = 'files', path = 'data/merchants', ordering = 'name')
FORMAT UPSERT ENCODE JSON (delete_field = 'deleted');

-- The label: a holder denies a payment. It takes days until the bank knows.
CREATE TABLE chargebacks (
  payment_id BIGINT NOT NULL,
  reported_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR reported_at AS reported_at - INTERVAL '10' MINUTE
)
WITH (connector = 'files', path = 'data/chargebacks', ordering = 'name') FORMAT PLAIN ENCODE JSON;
