---
CREATE SOURCE s (a BIGINT b VARCHAR)
--- fails
-- view.sql:1:27 SYNTAX_ERROR — syntax error at or near "b"
--   CREATE SOURCE s (a BIGINT b VARCHAR)
--                             ^
--   hint: is a comma or an operator missing before b?

---
CREATE SOURCE s (a BIGNT)
--- fails
-- view.sql:1:20 UNKNOWN_TYPE — type "BIGNT" is not known
--   CREATE SOURCE s (a BIGNT)
--                      ^^^^^
--   hint: did you mean BIGINT?

---
CREATE SOURCE s (a)
--- fails
-- view.sql:1:19 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s (a)
--                     ^
--   hint: expected a type here

---
CREATE SOURCE s (a BIGINT,)
--- fails
-- view.sql:1:27 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s (a BIGINT,)
--                             ^
--   hint: remove the comma before this

---
CREATE SOURCE s ()
--- fails
-- view.sql:1:18 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s ()
--                    ^
--   hint: expected a column, PRIMARY KEY or WATERMARK FOR here

---
CREATE SOURCE s (a BIGINT
--- fails
-- view.sql:1:26 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE SOURCE s (a BIGINT
--                            ^
--   hint: is a ) missing? The ( after s on line 1 is not closed

---
CREATE SOURCE s (a BIGINT NOT NUL)
--- fails
-- view.sql:1:27 SYNTAX_ERROR — syntax error at or near "NOT"
--   CREATE SOURCE s (a BIGINT NOT NUL)
--                             ^^^
--   hint: did you mean NOT NULL?

---
CREATE SOURCE s (a BIGINT METADATA 'offset')
--- fails
-- view.sql:1:36 SYNTAX_ERROR — syntax error at or near "offset"
--   CREATE SOURCE s (a BIGINT METADATA 'offset')
--                                      ^^^^^^^^
--   hint: write METADATA FROM 'offset'

---
CREATE SOURCE s (a BIGINT METADATA FROM offset)
--- fails
-- view.sql:1:41 SYNTAX_ERROR — syntax error at or near "offset"
--   CREATE SOURCE s (a BIGINT METADATA FROM offset)
--                                           ^^^^^^
--   hint: expected the metadata's name in single quotes here

---
CREATE SOURCE s (a BIGINT DEFAULT 1)
--- fails
-- view.sql:1:27 SYNTAX_ERROR — syntax error at or near "DEFAULT"
--   CREATE SOURCE s (a BIGINT DEFAULT 1)
--                             ^^^^^^^
--   hint: expected ",", ")" or NOT NULL

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS tz - INTERVAL '5' SECOND)
--- fails
-- view.sql:1:52 INVALID_WATERMARK — the watermark is for column "ts" but its expression reads another one
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS tz - INTERVAL '5' SECOND)
--                                                      ^^
--   hint: write WATERMARK FOR ts AS ts - INTERVAL '10' SECOND

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts + INTERVAL '5' SECOND)
--- fails
-- view.sql:1:55 SYNTAX_ERROR — syntax error at or near "+"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts + INTERVAL '5' SECOND)
--                                                         ^
--   hint: expected "," or ")" here

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - 5)
--- fails
-- view.sql:1:57 SYNTAX_ERROR — syntax error at or near "5"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts - 5)
--                                                           ^
--   hint: expected an interval here: INTERVAL '10' SECOND

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts)
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts)
--                                                  ^
--   hint: expected AS here

---
CREATE SOURCE s (ts TIMESTAMP, WATERMAK FOR ts AS ts)
--- fails
-- view.sql:1:32 SYNTAX_ERROR — syntax error at or near "WATERMAK"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMAK FOR ts AS ts)
--                                  ^^^^^^^^
--   hint: write WATERMARK FOR column AS …

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK ts AS ts)
--- fails
-- view.sql:1:32 SYNTAX_ERROR — syntax error at or near "WATERMARK"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK ts AS ts)
--                                  ^^^^^^^^^
--   hint: write WATERMARK FOR column AS …

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts IDLE INTERVAL '5' SECOND)
--- fails
-- view.sql:1:55 SYNTAX_ERROR — syntax error at or near "IDLE"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts IDLE INTERVAL '5' SECOND)
--                                                         ^^^^
--   hint: did you mean IDLE TIMEOUT?

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts)
--- fails
-- view.sql:1:56 DUPLICATE_CLAUSE — WATERMARK is given twice
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ts, WATERMARK FOR ts AS ts)
--                                                          ^^^^^^^^^
--   hint: remove one of them

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTIL 0.99))
--- fails
-- view.sql:1:62 SYNTAX_ERROR — syntax error at or near "PERCENTIL"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTIL 0.99))
--                                                                ^^^^^^^^^
--   hint: did you mean PERCENTILE?

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTILE 99))
--- fails
-- view.sql:1:73 INVALID_WATERMARK — the percentile is not between 0 and 1
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE (PERCENTILE 99))
--                                                                           ^^
--   hint: write it as PERCENTILE 0.99

---
CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE ())
--- fails
-- view.sql:1:62 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s (ts TIMESTAMP, WATERMARK FOR ts AS ADAPTIVE ())
--                                                                ^
--   hint: a part of ADAPTIVE is one of PERCENTILE, MIN, MAX

---
CREATE SOURCE s (ts TIMESTAMP) WATERMARK FOR ts AS ts
--- fails
-- view.sql:1:32 MISPLACED_CLAUSE — WATERMARK does not belong here
--   CREATE SOURCE s (ts TIMESTAMP) WATERMARK FOR ts AS ts
--                                  ^^^^^^^^^
--   hint: WATERMARK stands inside the column list of a source

---
CREATE SOURCE s (a BIGINT, PRIMARY KEY (a), PRIMARY KEY (a))
--- fails
-- view.sql:1:45 DUPLICATE_CLAUSE — PRIMARY KEY is given twice
--   CREATE SOURCE s (a BIGINT, PRIMARY KEY (a), PRIMARY KEY (a))
--                                               ^^^^^^^^^^^
--   hint: remove one of them

---
CREATE SOURCE s (a BIGINT) PRIMARY KEY (a)
--- fails
-- view.sql:1:28 MISPLACED_CLAUSE — PRIMARY KEY does not belong here
--   CREATE SOURCE s (a BIGINT) PRIMARY KEY (a)
--                              ^^^^^^^^^^^
--   hint: PRIMARY KEY stands in brackets after the name

---
CREATE SOURCE s (a BIGINT) WITH connector = 'kafka'
--- fails
-- view.sql:1:33 SYNTAX_ERROR — syntax error at or near "connector"
--   CREATE SOURCE s (a BIGINT) WITH connector = 'kafka'
--                                   ^^^^^^^^^
--   hint: expected "(" here

---
CREATE SOURCE s (a BIGINT) WITH (connector 'kafka')
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "kafka"
--   CREATE SOURCE s (a BIGINT) WITH (connector 'kafka')
--                                              ^^^^^^^
--   hint: expected = and a value for option connector

---
CREATE SOURCE s (a BIGINT) WITH ()
--- fails
-- view.sql:1:34 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE SOURCE s (a BIGINT) WITH ()
--                                    ^
--   hint: expected the name of an option here

---
CREATE SOURCE s (a BIGINT) WIHT (connector = 'kafka')
--- fails
-- view.sql:1:28 UNKNOWN_CLAUSE — unknown clause "WIHT" in CREATE SOURCE
--   CREATE SOURCE s (a BIGINT) WIHT (connector = 'kafka')
--                              ^^^^
--   hint: did you mean WITH?

---
CREATE SOURCE s (a BIGINT) FORMAT JSON
--- fails
-- view.sql:1:35 SYNTAX_ERROR — syntax error at or near "JSON"
--   CREATE SOURCE s (a BIGINT) FORMAT JSON
--                                     ^^^^
--   hint: FORMAT is one of PLAIN, UPSERT, DEBEZIUM

---
CREATE SOURCE s (a BIGINT) FORMAT PLAIN
--- fails
-- view.sql:1:40 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE SOURCE s (a BIGINT) FORMAT PLAIN
--                                          ^
--   hint: expected ENCODE here: FORMAT PLAIN ENCODE JSON

---
CREATE SOURCE s (a BIGINT) FORMAT PLAIN ENCODE PROTOBUF
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at or near "PROTOBUF"
--   CREATE SOURCE s (a BIGINT) FORMAT PLAIN ENCODE PROTOBUF
--                                                  ^^^^^^^^
--   hint: ENCODE is one of JSON, AVRO, CSV, PARQUET, RAW

---
CREATE SOURCE s (a BIGINT) FORMAT PLAIN ENCODE JSN
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at or near "JSN"
--   CREATE SOURCE s (a BIGINT) FORMAT PLAIN ENCODE JSN
--                                                  ^^^
--   hint: did you mean JSON?

---
CREATE SOURCE s (a BIGINT) ENCODE JSON
--- fails
-- view.sql:1:28 MISPLACED_CLAUSE — ENCODE does not belong here
--   CREATE SOURCE s (a BIGINT) ENCODE JSON
--                              ^^^^^^
--   hint: ENCODE stands after FORMAT: FORMAT PLAIN ENCODE JSON

---
CREATE SOURCE s (a BIGINT) ON EROR DROP
--- fails
-- view.sql:1:28 UNKNOWN_CLAUSE — unknown clause "ON" in CREATE SOURCE
--   CREATE SOURCE s (a BIGINT) ON EROR DROP
--                              ^^
--   hint: did you mean ON ERROR?

---
CREATE SOURCE s (a BIGINT) ON ERROR IGNORE
--- fails
-- view.sql:1:37 SYNTAX_ERROR — syntax error at or near "IGNORE"
--   CREATE SOURCE s (a BIGINT) ON ERROR IGNORE
--                                       ^^^^^^
--   hint: ON ERROR is one of QUARANTINE, FAIL, DROP

---
CREATE SOURCE s (a BIGINT) FRESHNESS INTERVAL '1' SECOND
--- fails
-- view.sql:1:28 MISPLACED_CLAUSE — FRESHNESS does not belong here
--   CREATE SOURCE s (a BIGINT) FRESHNESS INTERVAL '1' SECOND
--                              ^^^^^^^^^
--   hint: FRESHNESS stands before AS in CREATE STREAMING VIEW

---
CREATE SOURCE s (a BIGINT) INCLUDE KEY AS k
--- fails
-- view.sql:1:28 UNKNOWN_CLAUSE — unknown clause "INCLUDE" in CREATE SOURCE
--   CREATE SOURCE s (a BIGINT) INCLUDE KEY AS k
--                              ^^^^^^^
--   hint: known here: COMMENT, WITH, FORMAT, ON ERROR, ON SCHEMA CHANGE, START FROM

---
CREATE TABLE t (a BIGINT COMENT 'x')
--- fails
-- view.sql:1:26 SYNTAX_ERROR — syntax error at or near "COMENT"
--   CREATE TABLE t (a BIGINT COMENT 'x')
--                            ^^^^^^
--   hint: did you mean COMMENT?

---
CREATE TABLE t (a BIGINT COMMENT '' COMMENT 'y')
--- fails
-- view.sql:1:37 DUPLICATE_CLAUSE — COMMENT is given twice
--   CREATE TABLE t (a BIGINT COMMENT '' COMMENT 'y')
--                                       ^^^^^^^
--   hint: remove one of them

---
CREATE TABLE t (a BIGINT) COMMENT 'x' COMMENT 'y'
--- fails
-- view.sql:1:39 DUPLICATE_CLAUSE — COMMENT is given twice
--   CREATE TABLE t (a BIGINT) COMMENT 'x' COMMENT 'y'
--                                         ^^^^^^^
--   hint: remove one of them
