-- Browsers send a view within seconds. Phones without a connection send it when they have one again.
CREATE TABLE page_views (
  view_id BIGINT NOT NULL,
  url VARCHAR NOT NULL,
  page AS url_extract_path(url) COMMENT 'path of the URL, without what campaigns append',
  user_id BIGINT NOT NULL,
  device VARCHAR NOT NULL COMMENT 'desktop or mobile',
  load_ms INTEGER NOT NULL COMMENT 'milliseconds until the page was shown',
  viewed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR viewed_at AS viewed_at - INTERVAL '1' MINUTE
)
COMMENT 'Page views as devices send them; some come twice'
WITH (connector = 'files', path = 'data/page_views', ordering = 'name') FORMAT PLAIN ENCODE JSON;
