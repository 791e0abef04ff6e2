--- the least a view can be
CREATE STREAMING VIEW v AS SELECT a FROM t

--- replaced, only if missing
CREATE OR REPLACE STREAMING VIEW IF NOT EXISTS v AS SELECT a FROM t

--- every clause in the order of the grammar
CREATE OR REPLACE STREAMING VIEW v (PRIMARY KEY (a, b))
COMMENT 'what it''s for'
PARTITIONED BY (day(ts), bucket(16, a))
FRESHNESS INTERVAL '5' SECOND
LATE ROWS ACCEPT FOR INTERVAL '1' HOUR INTO too_late
START FROM EARLIEST
WITH (format = 'iceberg', engine = 'incremental')
AS
SELECT
  a,
  b,
  ts
FROM t
EMIT CHANGES

--- clauses in any order
create streaming view V with (format = 'delta') start from latest late rows drop freshness = interval 5 seconds partitioned by (days(TS)) comment 'x' as select A, TS from T emit on window close
--- prints
CREATE STREAMING VIEW v COMMENT 'x' PARTITIONED BY (day(ts)) FRESHNESS INTERVAL '5' SECOND LATE ROWS DROP START FROM LATEST WITH (format = 'delta') AS SELECT a, ts FROM t EMIT ON WINDOW CLOSE

--- emit on window close
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOW CLOSE

--- emit final is the same
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT FINAL
--- prints
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOW CLOSE

--- emit after window close is the same
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT AFTER WINDOW CLOSE
--- prints
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOW CLOSE

--- emit after a where
CREATE STREAMING VIEW v AS SELECT a FROM t WHERE b = c EMIT CHANGES

--- emit after a group
CREATE STREAMING VIEW v AS SELECT a, COUNT(*) AS n FROM t GROUP BY a EMIT CHANGES

--- emit after an alias
CREATE STREAMING VIEW v AS SELECT x.a FROM t AS x EMIT CHANGES

--- emit after a union
CREATE STREAMING VIEW v AS SELECT a FROM t UNION ALL SELECT b FROM u EMIT ON WINDOW CLOSE

--- emit after a limit
CREATE STREAMING VIEW v AS SELECT a FROM t ORDER BY a LIMIT 10 EMIT CHANGES

--- emit as a name
CREATE STREAMING VIEW v AS SELECT emit, t.emit AS changes FROM emit AS t WHERE emit > 1 EMIT CHANGES

--- late rows into a table
CREATE STREAMING VIEW v LATE ROWS INTO too_late AS SELECT a FROM t
--- prints
CREATE STREAMING VIEW v LATE ROWS DROP INTO too_late AS SELECT a FROM t

--- late rows dropped into a table
CREATE STREAMING VIEW v LATE ROWS DROP INTO too_late AS SELECT a FROM t

--- late rows accepted without limit
CREATE STREAMING VIEW v LATE ROWS ACCEPT AS SELECT a FROM t

--- late rows accepted for a day
CREATE STREAMING VIEW v LATE ROWS ACCEPT FOR INTERVAL '1' DAY AS SELECT a FROM t

--- every partition transform
CREATE STREAMING VIEW v PARTITIONED BY (year(a), month(b), day(c), hour(d), bucket(8, e), truncate(4, f), g) AS SELECT * FROM t

--- partition transforms in Spark's plural
CREATE STREAMING VIEW v PARTITIONED BY (YEARS(a), MONTHS(b), DAYS(c), HOURS(d)) AS SELECT * FROM t
--- prints
CREATE STREAMING VIEW v PARTITIONED BY (year(a), month(b), day(c), hour(d)) AS SELECT * FROM t

--- start from a time of day
CREATE STREAMING VIEW v START FROM TIMESTAMP '2026-01-01 00:00:00' AS SELECT a FROM t

--- a constraint
CREATE STREAMING VIEW v (PRIMARY KEY (a), CONSTRAINT positive CHECK (b > 0) ON VIOLATION QUARANTINE) AS SELECT a, b FROM t

--- constraints in another order
CREATE STREAMING VIEW v (CONSTRAINT x CHECK (a IS NOT NULL), CONSTRAINT y CHECK (b > 0) ON VIOLATION DROP ROW, PRIMARY KEY (a)) AS SELECT a, b FROM t
--- prints
CREATE STREAMING VIEW v (PRIMARY KEY (a), CONSTRAINT x CHECK (a IS NOT NULL), CONSTRAINT y CHECK (b > 0) ON VIOLATION DROP ROW) AS SELECT a, b FROM t

--- comments of columns, before keys and constraints
CREATE STREAMING VIEW v (PRIMARY KEY (a), B comment 'it''s b', a COMMENT '', "comment" COMMENT 'a word') COMMENT 'v' AS SELECT a, b, comment FROM t
--- prints
CREATE STREAMING VIEW v (b COMMENT 'it''s b', a COMMENT '', "comment" COMMENT 'a word', PRIMARY KEY (a)) COMMENT 'v' AS SELECT a, b, comment FROM t

--- names of columns
create streaming view v (A, b comment 'x', primary key (a)) as select x, y from t
--- prints
CREATE STREAMING VIEW v (a, b COMMENT 'x', PRIMARY KEY (a)) AS SELECT x, y FROM t

--- comments of columns over several lines
CREATE STREAMING VIEW v (
  a COMMENT 'first',
  PRIMARY KEY (a)
)
COMMENT 'v'
AS
SELECT
  a
FROM t

--- an empty comment
CREATE STREAMING VIEW v COMMENT '' AS SELECT a FROM t

--- a query in brackets
CREATE STREAMING VIEW v AS (SELECT a FROM t) EMIT CHANGES
--- prints
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES

--- a query with a WITH clause
CREATE STREAMING VIEW v AS WITH x AS (SELECT a FROM t) SELECT a FROM x EMIT CHANGES

--- a query of values
CREATE STREAMING VIEW v AS VALUES (1, 'a'), (2, 'b')
--- prints
CREATE STREAMING VIEW v AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS _values

--- a semicolon at the end
CREATE STREAMING VIEW v AS SELECT a FROM t;
--- prints
CREATE STREAMING VIEW v AS SELECT a FROM t

--- a name that is a keyword elsewhere
CREATE STREAMING VIEW windows AS SELECT a FROM t

--- line breaks of Windows and a byte order mark are tried in test_text.py
CREATE STREAMING VIEW v
AS
SELECT
  a
FROM t
