CREATE TABLE readings (
  device VARCHAR NOT NULL,
  temperature DOUBLE COMMENT '°C; NULL if the device only says that it is alive',
  ts TIMESTAMP WITH TIME ZONE NOT NULL,
  WATERMARK FOR ts AS ts - INTERVAL '30' SECOND
)
COMMENT 'One reading per device and minute; some come twice. The gateway speaks every ten seconds'
WITH (connector = 'files', path = 'data/readings', ordering = 'name') FORMAT PLAIN ENCODE JSON;

-- A list has no event time, so nothing waits for it.
CREATE TABLE devices (
  device VARCHAR PRIMARY KEY,
  room VARCHAR
)
COMMENT 'The devices that should report'
WITH (connector = 'files', path = 'data/devices', ordering = 'name')
FORMAT UPSERT ENCODE JSON (delete_field = 'deleted');
