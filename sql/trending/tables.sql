CREATE TABLE posts (
  post_id BIGINT NOT NULL,
  author BIGINT NOT NULL,
  tags ARRAY(VARCHAR) COMMENT 'hashtags as they were typed; NULL or empty if there are none',
  posted_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR posted_at AS posted_at - INTERVAL '10' SECOND
)
COMMENT 'Posts with their hashtags; some come twice'
WITH (connector = 'files', path = 'data/posts', ordering = 'name') FORMAT PLAIN ENCODE JSON;
