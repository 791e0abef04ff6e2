-- Two streams of two systems: the ad server writes impressions, the redirector writes clicks. Both
-- deliver at least once, and neither waits for the other.
CREATE TABLE impressions (
  impression_id BIGINT NOT NULL,
  campaign VARCHAR NOT NULL,
  site VARCHAR NOT NULL COMMENT 'on which the advertisement was shown',
  shown_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR shown_at AS shown_at - INTERVAL '2' MINUTE
)
COMMENT 'Advertisements that were shown'
WITH (connector = 'files', path = 'data/impressions', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE TABLE clicks (
  click_id BIGINT NOT NULL,
  impression_id BIGINT NOT NULL,
  clicked_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR clicked_at AS clicked_at - INTERVAL '2' MINUTE
)
COMMENT 'Clicks on advertisements'
WITH (connector = 'files', path = 'data/clicks', ordering = 'name') FORMAT PLAIN ENCODE JSON;
