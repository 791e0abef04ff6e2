CREATE TABLE events (
  event_id BIGINT NOT NULL,
  user_id BIGINT NOT NULL,
  megabytes DOUBLE NOT NULL COMMENT 'MB transferred',
  happened_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR happened_at AS happened_at - INTERVAL '10' MINUTE
)
COMMENT 'Downloads; some come twice'
WITH (connector = 'files', path = 'data/events', ordering = 'name') FORMAT PLAIN ENCODE JSON;

-- Profiles change seldom. When none has changed for a minute, the events do not wait for them.
CREATE TABLE profiles (
  user_id BIGINT PRIMARY KEY,
  plan VARCHAR COMMENT 'free or paid',
  country VARCHAR,
  changed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR changed_at AS changed_at - INTERVAL '10' MINUTE IDLE TIMEOUT INTERVAL '1' MINUTE
)
COMMENT 'Users; a deletion is a change, too, and has its time'
WITH (connector = 'files', path = 'data/profiles', ordering = 'name')
FORMAT UPSERT ENCODE JSON (delete_field = 'deleted');
