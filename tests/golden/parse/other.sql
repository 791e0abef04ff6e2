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

--- an SQL function
CREATE FUNCTION f(a DOUBLE, b DOUBLE) RETURNS DOUBLE LANGUAGE SQL RETURN a * b + 1

--- a function of the language that needs no name
create or replace function Twice(X bigint) returns bigint return X + x
--- prints
CREATE OR REPLACE FUNCTION twice(x BIGINT) RETURNS BIGINT RETURN x + x

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
