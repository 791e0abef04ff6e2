-- Services ask for a notification each time that they notice something, and ask again and again.
CREATE TABLE requests (
  request_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  topic VARCHAR NOT NULL COMMENT 'what it is about, such as "disk full"',
  requested_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR requested_at AS requested_at - INTERVAL '2' MINUTE
)
COMMENT 'Requests for notifications; some come twice'
WITH (connector = 'files', path = 'data/requests', ordering = 'name') FORMAT PLAIN ENCODE JSON;
