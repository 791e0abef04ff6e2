CREATE TABLE results (
  result_id BIGINT NOT NULL,
  player BIGINT NOT NULL,
  points BIGINT NOT NULL,
  played_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR played_at AS played_at - INTERVAL '10' MINUTE
)
COMMENT 'Games that ended; telephones send some of them twice, or hours later'
WITH (connector = 'files', path = 'data/results', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE TABLE bans (player BIGINT PRIMARY KEY, reason VARCHAR)
COMMENT 'Players who cheated; a ban that is lifted is deleted'
WITH (connector = 'files', path = 'data/bans')
FORMAT UPSERT ENCODE JSON (delete_field = 'lifted');
