CREATE TABLE clicks (
  click_id BIGINT NOT NULL,
  visitor BIGINT NOT NULL COMMENT 'number in the cookie',
  page VARCHAR NOT NULL COMMENT 'home, search, product, cart or paid',
  source VARCHAR COMMENT 'where the visitor came from; NULL inside the shop',
  clicked_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR clicked_at AS clicked_at - INTERVAL '5' MINUTE
)
COMMENT 'Clicks as browsers and phones send them; some come twice'
WITH (connector = 'files', path = 'data/clicks', ordering = 'name') FORMAT PLAIN ENCODE JSON;
