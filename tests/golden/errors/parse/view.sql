---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOW CLOSED
--- fails
-- view.sql:1:59 SYNTAX_ERROR — syntax error at or near "CLOSED"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOW CLOSED
--                                                             ^^^^^^
--   hint: did you mean EMIT ON WINDOW CLOSE?

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOWS CLOSE
--- fails
-- view.sql:1:52 SYNTAX_ERROR — syntax error at or near "WINDOWS"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT ON WINDOWS CLOSE
--                                                      ^^^^^^^
--   hint: did you mean EMIT ON WINDOW CLOSE?

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "EMIT"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT
--                                              ^^^^
--   hint: write EMIT CHANGES or EMIT ON WINDOW CLOSE

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGE
--- fails
-- view.sql:1:49 SYNTAX_ERROR — syntax error at or near "CHANGE"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGE
--                                                   ^^^^^^
--   hint: did you mean EMIT CHANGES?

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMITS CHANGES
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "EMITS"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMITS CHANGES
--                                              ^^^^^
--   hint: did you mean EMIT?

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT EVERY INTERVAL '5' SECOND
--- fails
-- view.sql:1:49 SYNTAX_ERROR — syntax error at or near "EVERY"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT EVERY INTERVAL '5' SECOND
--                                                   ^^^^^
--   hint: write FRESHNESS INTERVAL '5' SECOND before AS

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES EMIT CHANGES
--- fails
-- view.sql:1:57 DUPLICATE_CLAUSE — EMIT is given twice
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES EMIT CHANGES
--                                                           ^^^^
--   hint: remove one of them

---
CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES foo
--- fails
-- view.sql:1:57 SYNTAX_ERROR — syntax error at or near "foo"
--   CREATE STREAMING VIEW v AS SELECT a FROM t EMIT CHANGES foo
--                                                           ^^^
--   hint: EMIT ends the statement

---
CREATE STREAMING VIEW v EMIT CHANGES AS SELECT a FROM t
--- fails
-- view.sql:1:25 MISPLACED_CLAUSE — EMIT does not belong here
--   CREATE STREAMING VIEW v EMIT CHANGES AS SELECT a FROM t
--                           ^^^^
--   hint: EMIT stands after the query

---
CREATE STREAMING VIEW v AS SELECT a FROM t PARTITIONED BY (day(ts))
--- fails
-- view.sql:1:44 MISPLACED_CLAUSE — PARTITIONED BY does not belong here
--   CREATE STREAMING VIEW v AS SELECT a FROM t PARTITIONED BY (day(ts))
--                                              ^^^^^^^^^^^^^^
--   hint: PARTITIONED BY stands before AS in CREATE STREAMING VIEW

---
CREATE STREAMING VIEW v AS SELECT a FROM t WHERE a > 1 PARTITIONED BY (day(ts)) EMIT CHANGES
--- fails
-- view.sql:1:56 MISPLACED_CLAUSE — PARTITIONED BY does not belong here
--   CREATE STREAMING VIEW v AS SELECT a FROM t WHERE a > 1 PARTITIONED BY (day(ts)) EMIT CHANGES
--                                                          ^^^^^^^^^^^^^^
--   hint: PARTITIONED BY stands before AS in CREATE STREAMING VIEW

---
CREATE STREAMING VIEW v AS SELECT a FROM t FRESHNESS INTERVAL '5' SECOND
--- fails
-- view.sql:1:44 MISPLACED_CLAUSE — FRESHNESS does not belong here
--   CREATE STREAMING VIEW v AS SELECT a FROM t FRESHNESS INTERVAL '5' SECOND
--                                              ^^^^^^^^^
--   hint: FRESHNESS stands before AS in CREATE STREAMING VIEW

---
CREATE STREAMING VIEW v AS SELECT a FROM t LATE ROWS DROP
--- fails
-- view.sql:1:44 MISPLACED_CLAUSE — LATE ROWS does not belong here
--   CREATE STREAMING VIEW v AS SELECT a FROM t LATE ROWS DROP
--                                              ^^^^
--   hint: LATE ROWS stands before AS in CREATE STREAMING VIEW

---
CREATE STREAMING VIEW v AS SELECT a FROM t GROUP BY a LATE ROWS DROP
--- fails
-- view.sql:1:55 MISPLACED_CLAUSE — LATE ROWS does not belong here
--   CREATE STREAMING VIEW v AS SELECT a FROM t GROUP BY a LATE ROWS DROP
--                                                         ^^^^
--   hint: LATE ROWS stands before AS in CREATE STREAMING VIEW

---
CREATE STREAMING VIEW v FRESHNES INTERVAL '5' SECOND AS SELECT a FROM t
--- fails
-- view.sql:1:25 UNKNOWN_CLAUSE — unknown clause "FRESHNES" in CREATE STREAMING VIEW
--   CREATE STREAMING VIEW v FRESHNES INTERVAL '5' SECOND AS SELECT a FROM t
--                           ^^^^^^^^
--   hint: did you mean FRESHNESS?

---
CREATE STREAMING VIEW v FRESHNESS '5 seconds' AS SELECT a FROM t
--- fails
-- view.sql:1:35 SYNTAX_ERROR — syntax error at or near "5 seconds"
--   CREATE STREAMING VIEW v FRESHNESS '5 seconds' AS SELECT a FROM t
--                                     ^^^^^^^^^^^
--   hint: expected an interval here: INTERVAL '10' SECOND

---
CREATE STREAMING VIEW v FRESHNESS INTERVAL '5' SECNDS AS SELECT a FROM t
--- fails
-- view.sql:1:48 SYNTAX_ERROR — the interval is not valid
--   CREATE STREAMING VIEW v FRESHNESS INTERVAL '5' SECNDS AS SELECT a FROM t
--                                                  ^^^^^^
--   hint: did you mean SECOND?

---
CREATE STREAMING VIEW v FRESHNESS INTERVAL '5' SECOND FRESHNESS INTERVAL '6' SECOND AS SELECT a FROM t
--- fails
-- view.sql:1:55 DUPLICATE_CLAUSE — FRESHNESS is given twice
--   CREATE STREAMING VIEW v FRESHNESS INTERVAL '5' SECOND FRESHNESS INTERVAL '6' SECOND AS SELECT a FROM t
--                                                         ^^^^^^^^^
--   hint: remove one of them

---
CREATE STREAMING VIEW v PARTITION BY (day(ts)) AS SELECT a FROM t
--- fails
-- view.sql:1:25 UNKNOWN_CLAUSE — unknown clause "PARTITION BY" in CREATE STREAMING VIEW
--   CREATE STREAMING VIEW v PARTITION BY (day(ts)) AS SELECT a FROM t
--                           ^^^^^^^^^^^^
--   hint: did you mean PARTITIONED BY?

---
CREATE STREAMING VIEW v PARTITIONED BY (dya(ts)) AS SELECT a FROM t
--- fails
-- view.sql:1:41 UNKNOWN_CLAUSE — partition transform "dya" is not known
--   CREATE STREAMING VIEW v PARTITIONED BY (dya(ts)) AS SELECT a FROM t
--                                           ^^^
--   hint: partition by a column or day, hour, month, year, bucket(n, c), truncate(n, c)

---
CREATE STREAMING VIEW v PARTITIONED BY (bucket(k, 16)) AS SELECT a FROM t
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at or near "k"
--   CREATE STREAMING VIEW v PARTITIONED BY (bucket(k, 16)) AS SELECT a FROM t
--                                                  ^
--   hint: expected a number here: bucket(16, column)

---
CREATE STREAMING VIEW v LATE ROW DROP AS SELECT a FROM t
--- fails
-- view.sql:1:25 UNKNOWN_CLAUSE — unknown clause "LATE" in CREATE STREAMING VIEW
--   CREATE STREAMING VIEW v LATE ROW DROP AS SELECT a FROM t
--                           ^^^^
--   hint: did you mean LATE ROWS?

---
CREATE STREAMING VIEW v LATE ROWS KEEP AS SELECT a FROM t
--- fails
-- view.sql:1:35 SYNTAX_ERROR — syntax error at or near "KEEP"
--   CREATE STREAMING VIEW v LATE ROWS KEEP AS SELECT a FROM t
--                                     ^^^^
--   hint: LATE ROWS is one of DROP, ACCEPT, INTO

---
CREATE STREAMING VIEW v START FROM EARLEST AS SELECT a FROM t
--- fails
-- view.sql:1:36 SYNTAX_ERROR — syntax error at or near "EARLEST"
--   CREATE STREAMING VIEW v START FROM EARLEST AS SELECT a FROM t
--                                      ^^^^^^^
--   hint: did you mean EARLIEST?

---
CREATE STREAMING VIEW v START FROM TIMESTAMP AS SELECT a FROM t
--- fails
-- view.sql:1:46 SYNTAX_ERROR — syntax error at or near "AS"
--   CREATE STREAMING VIEW v START FROM TIMESTAMP AS SELECT a FROM t
--                                                ^^
--   hint: expected a timestamp in single quotes here

---
CREATE STREAMING VIEW v WITH (format = iceberg) AS SELECT a FROM t
--- fails
-- view.sql:1:40 SYNTAX_ERROR — syntax error at or near "iceberg"
--   CREATE STREAMING VIEW v WITH (format = iceberg) AS SELECT a FROM t
--                                          ^^^^^^^
--   hint: the value of option format is a string in single quotes, a number, TRUE or FALSE

---
CREATE STREAMING VIEW v WITH (format 'iceberg') AS SELECT a FROM t
--- fails
-- view.sql:1:38 SYNTAX_ERROR — syntax error at or near "iceberg"
--   CREATE STREAMING VIEW v WITH (format 'iceberg') AS SELECT a FROM t
--                                        ^^^^^^^^^
--   hint: expected = and a value for option format

---
CREATE STREAMING VIEW v WITH (a = '1', a = '2') AS SELECT a FROM t
--- fails
-- view.sql:1:40 DUPLICATE_OPTION — option "a" is given twice
--   CREATE STREAMING VIEW v WITH (a = '1', a = '2') AS SELECT a FROM t
--                                          ^
--   hint: remove one

---
CREATE STREAMING VIEW v WITH (dialect = 'sprak') AS SELECT a FROM t
--- fails
-- view.sql:1:42 UNKNOWN_DIALECT — dialect "sprak" is not known
--   CREATE STREAMING VIEW v WITH (dialect = 'sprak') AS SELECT a FROM t
--                                            ^^^^^
--   hint: did you mean spark?

---
CREATE STREAMING VIEW v (a, b c) AS SELECT a FROM t
--- fails
-- view.sql:1:31 SYNTAX_ERROR — syntax error at or near "c"
--   CREATE STREAMING VIEW v (a, b c) AS SELECT a FROM t
--                                 ^
--   hint: expected COMMENT '…' here; types come from the query

---
CREATE STREAMING VIEW v (PRIMARY KY (a)) AS SELECT a FROM t
--- fails
-- view.sql:1:26 SYNTAX_ERROR — syntax error at or near "PRIMARY"
--   CREATE STREAMING VIEW v (PRIMARY KY (a)) AS SELECT a FROM t
--                            ^^^^^^^
--   hint: did you mean PRIMARY KEY?

---
CREATE STREAMING VIEW v
--- fails
-- view.sql:1:24 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v
--                          ^
--   hint: expected AS and a query here

---
CREATE STREAMING VIEW AS SELECT 1
--- fails
-- view.sql:1:23 SYNTAX_ERROR — syntax error at or near "AS"
--   CREATE STREAMING VIEW AS SELECT 1
--                         ^^
--   hint: expected the name of the view here

---
CREATE STREAMING VIEW V__changes AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — the name "v__changes" ends in __changes, which is reserved
--   CREATE STREAMING VIEW V__changes AS SELECT a FROM t
--                         ^^^^^^^^^^
--   hint: choose another name

---
CREATE STREAMING VIEW "../x" AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — "../x" cannot be the name of a view
--   CREATE STREAMING VIEW "../x" AS SELECT a FROM t
--                         ^^^^^^
--   hint: use letters, digits and _, a letter first, at most 63 characters

---
CREATE STREAMING VIEW "a b" AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — "a b" cannot be the name of a view
--   CREATE STREAMING VIEW "a b" AS SELECT a FROM t
--                         ^^^^^
--   hint: use letters, digits and _, a letter first, at most 63 characters

---
CREATE STREAMING VIEW _v AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — "_v" cannot be the name of a view
--   CREATE STREAMING VIEW _v AS SELECT a FROM t
--                         ^^
--   hint: use letters, digits and _, a letter first, at most 63 characters

---
CREATE STREAMING VIEW a.b AS SELECT a FROM t
--- fails
-- view.sql:1:24 BAD_NAME — the name of a view has one part
--   CREATE STREAMING VIEW a.b AS SELECT a FROM t
--                          ^
--   hint: the namespace comes from headwater.toml

---
CREATE STREAMING VIEW 1v AS SELECT a FROM t
--- fails
-- view.sql:1:23 SYNTAX_ERROR — syntax error at or near "1"
--   CREATE STREAMING VIEW 1v AS SELECT a FROM t
--                         ^
--   hint: expected the name of the view here

---
CREATE STREAMING VIEW select AS SELECT a FROM t
--- fails
-- view.sql:1:23 SYNTAX_ERROR — syntax error at or near "select"
--   CREATE STREAMING VIEW select AS SELECT a FROM t
--                         ^^^^^^
--   hint: expected the name of the view here

---
CREATE STREAMING VIEW vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv" cannot be the name of a view
--   CREATE STREAMING VIEW vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv AS SELECT a FROM t
--                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--   hint: use letters, digits and _, a letter first, at most 63 characters

---
CREATE STREAMING VIEW größe AS SELECT a FROM t
--- fails
-- view.sql:1:23 BAD_NAME — "größe" cannot be the name of a view
--   CREATE STREAMING VIEW größe AS SELECT a FROM t
--                         ^^^^^
--   hint: use letters, digits and _, a letter first, at most 63 characters

---
ALTER STREAMING VIEW v SUSPEND
--- fails
-- view.sql:1:1 UNKNOWN_STATEMENT — ALTER is not a statement here
--   ALTER STREAMING VIEW v SUSPEND
--   ^^^^^
--   hint: change the file and run headwater apply

---
CREATE STREAMING VIEW v (a BIGINT COMMENT 'x') AS SELECT a FROM t
--- fails
-- view.sql:1:28 SYNTAX_ERROR — syntax error at or near "BIGINT"
--   CREATE STREAMING VIEW v (a BIGINT COMMENT 'x') AS SELECT a FROM t
--                              ^^^^^^
--   hint: expected COMMENT '…' here; types come from the query

---
CREATE STREAMING VIEW v (a COMMENT) AS SELECT a FROM t
--- fails
-- view.sql:1:35 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE STREAMING VIEW v (a COMMENT) AS SELECT a FROM t
--                                     ^
--   hint: expected a comment in single quotes here

---
CREATE STREAMING VIEW v (a COMMENT 'x' b COMMENT 'y') AS SELECT a, b FROM t
--- fails
-- view.sql:1:40 SYNTAX_ERROR — syntax error at or near "b"
--   CREATE STREAMING VIEW v (a COMMENT 'x' b COMMENT 'y') AS SELECT a, b FROM t
--                                          ^
--   hint: is a comma or an operator missing before b?
