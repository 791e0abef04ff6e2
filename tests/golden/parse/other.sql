--- a sink
CREATE SINK s FROM v WITH (connector = 'kafka', topic = 'out')

--- a sink with a format
CREATE OR REPLACE SINK IF NOT EXISTS s FROM v WITH (connector = 'kafka') FORMAT UPSERT ENCODE JSON

--- a sink into a table
CREATE SINK s FROM v FORMAT UPSERT WITH (connector = 'iceberg')
--- prints
CREATE SINK s FROM v WITH (connector = 'iceberg') FORMAT UPSERT

--- drop a source
DROP SOURCE s

--- drop a table that may be missing
drop table if exists T
--- prints
DROP TABLE IF EXISTS t

--- drop a view
DROP STREAMING VIEW v

--- drop a view, shorter
DROP VIEW IF EXISTS v
--- prints
DROP STREAMING VIEW IF EXISTS v

--- drop a sink
DROP SINK s

--- drop a function
DROP FUNCTION f

--- drop a test
DROP TEST x

--- an SQL function
CREATE FUNCTION f(a DOUBLE, b DOUBLE) RETURNS DOUBLE LANGUAGE SQL RETURN a * b + 1

--- a Python function
CREATE OR REPLACE FUNCTION geo_kmh(lat DOUBLE, lon DOUBLE)
RETURNS DOUBLE
LANGUAGE PYTHON
WITH (handler = 'kmh')
AS $$
def kmh(lat, lon):
    return lat * lon  # it's; fine
$$

--- a function without parameters, its text in quotes
CREATE FUNCTION IF NOT EXISTS answer() LANGUAGE PYTHON RETURNS BIGINT AS 'return 42'
--- prints
CREATE FUNCTION IF NOT EXISTS answer() RETURNS BIGINT LANGUAGE PYTHON AS $$return 42$$

--- a test with one step
CREATE TEST x FOR v AS EXPECT ROWS (1, 'a')

--- a test that expects nothing
CREATE TEST x FOR v AS EXPECT ROWS

--- a test with every step
CREATE TEST late_minute FOR pageviews_1m AS
  INSERT INTO pageviews VALUES ('/', 1, TIMESTAMP '2026-01-01 00:00:10'), ('/', -2, NULL);
  EXPECT ROWS ('/', TIMESTAMP '2026-01-01 00:00:00', 1) COLUMNS (url, window_start, views);
  ADVANCE WATERMARK TO TIMESTAMP '2026-01-01 00:30:00';
  INSERT INTO pageviews (url, n) VALUES ('/', 3);
  EXPECT ROWS COLUMNS (url)

--- a replaced test with a semicolon at the end
CREATE OR REPLACE TEST x FOR v AS INSERT INTO s VALUES (1); EXPECT ROWS (1);
--- prints
CREATE OR REPLACE TEST x FOR v AS INSERT INTO s VALUES (1); EXPECT ROWS (1)
