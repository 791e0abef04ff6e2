-- One stream of sales, landed twice: only the watermark differs. In life one of the two is enough.
CREATE TABLE sales (
  sale_id BIGINT NOT NULL,
  device VARCHAR NOT NULL COMMENT 'till or mobile',
  amount DECIMAL(10, 2) NOT NULL COMMENT 'EUR',
  sold_at TIMESTAMP WITH TIME ZONE NOT NULL,
  received_at TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'when the gateway got the sale',
  WATERMARK FOR sold_at AS sold_at - INTERVAL '10' MINUTE
)
COMMENT 'Sales; the watermark is ten minutes behind the newest'
WITH (connector = 'files', path = 'data/sales', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE TABLE sales_adaptive (
  sale_id BIGINT NOT NULL,
  device VARCHAR NOT NULL COMMENT 'till or mobile',
  amount DECIMAL(10, 2) NOT NULL COMMENT 'EUR',
  sold_at TIMESTAMP WITH TIME ZONE NOT NULL,
  received_at TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'when the gateway got the sale',
  WATERMARK FOR sold_at AS ADAPTIVE (PERCENTILE 0.995, MAX INTERVAL '2' HOUR)
)
COMMENT 'The same sales; the watermark waits for 995 of 1,000'
WITH (connector = 'files', path = 'data/sales', ordering = 'name') FORMAT PLAIN ENCODE JSON;
