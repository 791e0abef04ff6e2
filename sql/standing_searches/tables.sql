-- A search is a row. Readers add, edit and delete searches while articles come.
CREATE TABLE searches (
  search_id BIGINT PRIMARY KEY,
  reader VARCHAR NOT NULL,
  words ARRAY(VARCHAR) NOT NULL COMMENT 'all of them are in the article',
  without ARRAY(VARCHAR) COMMENT 'none of them is in the article',
  since TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'older articles do not match'
)
COMMENT 'What readers wait for'
WITH (connector = 'files', path = 'data/searches')
FORMAT UPSERT ENCODE JSON (delete_field = 'deleted');

CREATE TABLE articles (
  article_id BIGINT NOT NULL,
  section VARCHAR NOT NULL,
  body VARCHAR NOT NULL,
  published_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR published_at AS published_at - INTERVAL '10' MINUTE
)
COMMENT 'Articles as agencies send them; some come twice'
WITH (connector = 'files', path = 'data/articles', ordering = 'name') FORMAT PLAIN ENCODE JSON;
