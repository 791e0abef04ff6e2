-- A departure event arrives when the plane leaves; its event time is when it should have left.
-- So delays are real lateness, and the stream is really out of order. There is a file for each week,
-- and each is later than the one before: ordering = 'name'.
CREATE TABLE departures (
  flight_id BIGINT NOT NULL,
  carrier VARCHAR NOT NULL COMMENT 'IATA code of the airline',
  flight INTEGER,
  tailnum VARCHAR COMMENT 'registration of the plane',
  origin VARCHAR NOT NULL COMMENT 'IATA code of the airport',
  dest VARCHAR NOT NULL COMMENT 'IATA code of the airport',
  distance INTEGER COMMENT 'miles',
  scheduled TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'when it should have left',
  departed TIMESTAMP WITH TIME ZONE,
  delay INTEGER COMMENT 'minutes; negative if it left early',
  WATERMARK FOR scheduled AS scheduled - INTERVAL '2' HOUR
)
COMMENT 'Departures from New York in 2013'
WITH (connector = 'files', path = 'data/departures', ordering = 'name') FORMAT PLAIN ENCODE JSON;

CREATE TABLE landings (
  flight_id BIGINT NOT NULL,
  dest VARCHAR NOT NULL COMMENT 'IATA code of the airport',
  scheduled TIMESTAMP WITH TIME ZONE NOT NULL COMMENT 'when it should have landed',
  landed TIMESTAMP WITH TIME ZONE,
  delay INTEGER COMMENT 'minutes; negative if it landed early',
  air_time INTEGER COMMENT 'minutes',
  WATERMARK FOR scheduled AS scheduled - INTERVAL '2' HOUR
)
COMMENT 'Landings of the flights that left New York in 2013'
WITH (connector = 'files', path = 'data/landings', ordering = 'name') FORMAT PLAIN ENCODE JSON;
