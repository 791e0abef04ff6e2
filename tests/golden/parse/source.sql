--- the least a source can be
CREATE SOURCE s (a BIGINT) WITH (connector = 'datagen')

--- a table is landed
CREATE TABLE t (a BIGINT) WITH (connector = 'files', path = 'in/')

--- comments of columns and of the table, in any order
CREATE TABLE t (a BIGINT comment 'first' NOT NULL, b AS a + 1 COMMENT 'it''s more', k VARBINARY METADATA FROM 'key' COMMENT 'of the record', comment VARCHAR COMMENT '') WITH (connector = 'kafka') COMMENT 'orders'
--- prints
CREATE TABLE t (a BIGINT NOT NULL COMMENT 'first', b AS a + 1 COMMENT 'it''s more', k VARBINARY METADATA FROM 'key' COMMENT 'of the record', comment VARCHAR COMMENT '') COMMENT 'orders' WITH (connector = 'kafka')

--- the field of a column
CREATE TABLE t (unit_price DOUBLE NOT NULL from 'unit price' COMMENT 'in EUR', a BIGINT FROM 'a.b', q BIGINT FROM 'it''s "50%"') WITH (connector = 'files')
--- prints
CREATE TABLE t (unit_price DOUBLE FROM 'unit price' NOT NULL COMMENT 'in EUR', a BIGINT FROM 'a.b', q BIGINT FROM 'it''s "50%"') WITH (connector = 'files')

--- without columns
CREATE SOURCE s WITH (connector = 'files')

--- names are folded
create or replace source IF not exists MySource (ColA BigInt, "ColB" string) with (Connector = 'files')
--- prints
CREATE OR REPLACE SOURCE IF NOT EXISTS mysource (cola BIGINT, colb VARCHAR) WITH (connector = 'files')

--- every scalar type
CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d INTEGER, e BIGINT, f REAL, g DOUBLE, h DECIMAL(12, 2), i VARCHAR, j VARCHAR(10), k CHAR(3), l VARBINARY, m DATE, n TIME, o TIMESTAMP, p TIMESTAMP(3), q TIMESTAMP WITH TIME ZONE, r TIMESTAMP(6) WITH TIME ZONE, s JSON, u UUID) WITH (connector = 'files')

--- other names for types
CREATE TABLE t (a STRING, b INT, c FLOAT, d DOUBLE PRECISION, e NUMERIC(5, 1), f TIMESTAMPTZ, g TEXT, h BINARY, i BOOL, j DOUBLE) WITH (connector = 'files')
--- prints
CREATE TABLE t (a VARCHAR, b INTEGER, c REAL, d DOUBLE, e DECIMAL(5, 1), f TIMESTAMP WITH TIME ZONE, g VARCHAR, h VARBINARY, i BOOLEAN, j DOUBLE) WITH (connector = 'files')

--- nested types
CREATE TABLE t (a ARRAY(BIGINT), b MAP(VARCHAR, DOUBLE), c ROW(x BIGINT, y ROW(z VARCHAR))) WITH (connector = 'files')

--- nested types in Spark's spelling
CREATE TABLE t (a ARRAY<STRING>, b MAP<STRING, BIGINT>) WITH (connector = 'files')
--- prints
CREATE TABLE t (a ARRAY(VARCHAR), b MAP(VARCHAR, BIGINT)) WITH (connector = 'files')

--- not null and computed columns
CREATE SOURCE s (
  a BIGINT NOT NULL,
  b AS a + 1,
  c AS CAST(a AS VARCHAR) || 'x',
  d VARCHAR NULL
)
WITH (connector = 'files')
--- prints
CREATE SOURCE s (
  a BIGINT NOT NULL,
  b AS a + 1,
  c AS CAST(a AS VARCHAR) || 'x',
  d VARCHAR
)
WITH (connector = 'files')

--- metadata columns
CREATE SOURCE s (o BIGINT METADATA FROM 'offset', p INTEGER NOT NULL METADATA FROM 'partition')

--- a primary key over two columns
CREATE TABLE t (a BIGINT, b BIGINT, PRIMARY KEY (a, b)) WITH (connector = 'kafka')

--- a primary key not enforced
CREATE TABLE t (a BIGINT, PRIMARY KEY (a) NOT ENFORCED) WITH (connector = 'kafka')
--- prints
CREATE TABLE t (a BIGINT, PRIMARY KEY (a)) WITH (connector = 'kafka')

--- a primary key at its column
CREATE TABLE t (a BIGINT PRIMARY KEY, b BIGINT) WITH (connector = 'kafka')
--- prints
CREATE TABLE t (a BIGINT, b BIGINT, PRIMARY KEY (a)) WITH (connector = 'kafka')

--- a fixed watermark
CREATE SOURCE s (
  ts TIMESTAMP WITH TIME ZONE,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
)

--- a monotonic watermark
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts)

--- a watermark before its column, in other spellings
CREATE SOURCE s (WATERMARK FOR TS AS ts - INTERVAL 5 MINUTES, ts TIMESTAMP)
--- prints
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)

--- a watermark with its unit in the string
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5 minutes')
--- prints
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' MINUTE)

--- a watermark with an idle timeout
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '10' SECOND IDLE TIMEOUT INTERVAL '30' SECOND)

--- a monotonic watermark with an idle timeout
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts IDLE TIMEOUT INTERVAL '1' MINUTE)

--- an adaptive watermark
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTILE 0.99, MIN INTERVAL '1' SECOND, MAX INTERVAL '10' MINUTE))

--- an adaptive watermark in another order
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (MAX INTERVAL '10' MINUTE, PERCENTILE 0.5) IDLE TIMEOUT INTERVAL '30' SECOND)
--- prints
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTILE 0.5, MAX INTERVAL '10' MINUTE) IDLE TIMEOUT INTERVAL '30' SECOND)

--- columns named like clauses
CREATE SOURCE s (watermark BIGINT, format VARCHAR, emit VARCHAR, connector VARCHAR, changes BIGINT, late BIGINT)

--- a column that must be quoted
CREATE SOURCE s ("select" BIGINT, "two words" VARCHAR)

--- dotted, quoted and numeric options
CREATE SOURCE s (a BIGINT) WITH (connector = 'kafka', properties.bootstrap.servers = 'b:9092', 'Key.With-Dash' = 'x', rate = 10, ratio = 0.5, offset = -1, header = TRUE, lazy = false)
--- prints
CREATE SOURCE s (a BIGINT) WITH (connector = 'kafka', properties.bootstrap.servers = 'b:9092', 'Key.With-Dash' = 'x', rate = 10, ratio = 0.5, offset = -1, header = TRUE, lazy = FALSE)

--- options named like keywords
CREATE SOURCE s (a BIGINT) WITH (format = 'json', schema.registry = 'http://r', table = 't', 'connector' = 'kafka')
--- prints
CREATE SOURCE s (a BIGINT) WITH (format = 'json', schema.registry = 'http://r', table = 't', connector = 'kafka')

--- option values with quotes in them
CREATE SOURCE s (a BIGINT) WITH (connector = 'files', quote = '''', path = 'it''s')

--- plain JSON
CREATE SOURCE s (a BIGINT) WITH (connector = 'kafka') FORMAT PLAIN ENCODE JSON

--- Debezium, Avro, with options
CREATE TABLE t (a BIGINT, PRIMARY KEY (a)) WITH (connector = 'kafka') FORMAT DEBEZIUM ENCODE AVRO (schema.registry = 'http://r')

--- upsert, CSV with a header
CREATE TABLE t (a BIGINT, PRIMARY KEY (a)) WITH (connector = 'files') FORMAT UPSERT ENCODE CSV (header = TRUE, delimiter = ';')

--- Parquet files
CREATE TABLE t (a BIGINT) WITH (connector = 'files') FORMAT PLAIN ENCODE PARQUET

--- raw bytes
CREATE TABLE t (a VARBINARY) WITH (connector = 'kafka') FORMAT PLAIN ENCODE RAW

--- on error fail
CREATE TABLE t (a BIGINT) WITH (connector = 'kafka') FORMAT PLAIN ENCODE JSON ON ERROR FAIL

--- clauses in another order
CREATE TABLE t (a BIGINT) ON ERROR DROP START FROM LATEST FORMAT PLAIN ENCODE JSON ON SCHEMA CHANGE EVOLVE WITH (connector = 'kafka')
--- prints
CREATE TABLE t (a BIGINT) WITH (connector = 'kafka') FORMAT PLAIN ENCODE JSON ON ERROR DROP ON SCHEMA CHANGE EVOLVE START FROM LATEST

--- start from a time
CREATE TABLE t (a BIGINT) WITH (connector = 'kafka') START FROM TIMESTAMP '2026-01-01 00:00:00'

--- start from offsets
CREATE TABLE t (a BIGINT) WITH (connector = 'kafka') START FROM OFFSETS '{"t": {"0": 23}}'

--- comments are not kept
CREATE SOURCE s ( -- a source
  /* one
     column */ a BIGINT -- the column
) WITH (connector = 'files') -- end
--- prints
CREATE SOURCE s (
  a BIGINT
)
WITH (connector = 'files')
