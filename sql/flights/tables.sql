-- A departure event arrives when the plane leaves; its event time is when it should have left.
-- So delays are real lateness, and the stream is really out of order.
CREATE TABLE departures (
  flight_id BIGINT NOT NULL,
  carrier VARCHAR NOT NULL,
  flight INTEGER,
  tailnum VARCHAR,
  origin VARCHAR NOT NULL,
  dest VARCHAR NOT NULL,
  distance INTEGER,
  scheduled TIMESTAMP WITH TIME ZONE NOT NULL,
  departed TIMESTAMP WITH TIME ZONE,
  delay INTEGER,
  WATERMARK FOR scheduled AS scheduled - INTERVAL '2' HOUR
) WITH (connector = 'files', path = 'data/departures') FORMAT PLAIN ENCODE JSON;

CREATE TABLE landings (
  flight_id BIGINT NOT NULL,
  dest VARCHAR NOT NULL,
  scheduled TIMESTAMP WITH TIME ZONE NOT NULL,
  landed TIMESTAMP WITH TIME ZONE,
  delay INTEGER,
  air_time INTEGER,
  WATERMARK FOR scheduled AS scheduled - INTERVAL '2' HOUR
) WITH (connector = 'files', path = 'data/landings') FORMAT PLAIN ENCODE JSON;
