---
CREATE STREAMING VIEW v AS SELECT a FROM t WHERE x > 1 EMMIT CHANGES
--- fails
-- view.sql:1:56 SYNTAX_ERROR — syntax error at or near "EMMIT"
--   CREATE STREAMING VIEW v AS SELECT a FROM t WHERE x > 1 EMMIT CHANGES
--                                                          ^^^^^
--   hint: did you mean EMIT?

---
CREATE STREAMING VIEW v AS
--- fails
-- view.sql:1:27 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS
--                             ^
--   hint: expected a query here

---
CREATE STREAMING VIEW v AS SELECT
--- fails
-- view.sql:1:34 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT
--                                    ^
--   hint: SELECT needs at least one column

---
CREATE STREAMING VIEW v AS SELECT FROM t
--- fails
-- view.sql:1:35 SYNTAX_ERROR — syntax error at or near "FROM"
--   CREATE STREAMING VIEW v AS SELECT FROM t
--                                     ^^^^
--   hint: SELECT needs at least one column

---
CREATE STREAMING VIEW v AS SELECT a, FROM t
--- fails
-- view.sql:1:38 SYNTAX_ERROR — syntax error at or near "FROM"
--   CREATE STREAMING VIEW v AS SELECT a, FROM t
--                                        ^^^^
--   hint: remove the comma before this

---
CREATE STREAMING VIEW v AS SELECT a b c FROM t
--- fails
-- view.sql:1:39 SYNTAX_ERROR — syntax error at or near "c"
--   CREATE STREAMING VIEW v AS SELECT a b c FROM t
--                                         ^
--   hint: is a comma or an operator missing before c?

---
CREATE STREAMING VIEW v AS SELECT a FROM
--- fails
-- view.sql:1:41 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM
--                                           ^
--   hint: expected a table here

---
CREATE STREAMING VIEW v AS SELECT a FORM t
--- fails
-- view.sql:1:37 SYNTAX_ERROR — syntax error at or near "FORM"
--   CREATE STREAMING VIEW v AS SELECT a FORM t
--                                       ^^^^
--   hint: did you mean FROM?

---
CREATE STREAMING VIEW v AS SELEC a FROM t
--- fails
-- view.sql:1:28 SYNTAX_ERROR — syntax error at or near "SELEC"
--   CREATE STREAMING VIEW v AS SELEC a FROM t
--                              ^^^^^
--   hint: did you mean SELECT?

---
CREATE STREAMING VIEW v AS SELECT a FROM t WERE a > 1
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "WERE"
--   CREATE STREAMING VIEW v AS SELECT a FROM t WERE a > 1
--                                              ^^^^
--   hint: did you mean WHERE?

---
CREATE STREAMING VIEW v AS SELECT a FROM t WHERE
--- fails
-- view.sql:1:49 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t WHERE
--                                                   ^
--   hint: something is missing here

---
CREATE STREAMING VIEW v AS SELECT a FROM t WHERE a >
--- fails
-- view.sql:1:53 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t WHERE a >
--                                                       ^
--   hint: something is missing here

---
CREATE STREAMING VIEW v AS SELECT a FROM t GROUP a
--- fails
-- view.sql:1:50 SYNTAX_ERROR — syntax error at or near "a"
--   CREATE STREAMING VIEW v AS SELECT a FROM t GROUP a
--                                                    ^
--   hint: is BY missing after GROUP?

---
CREATE STREAMING VIEW v AS SELECT a FROM t GROUP BY
--- fails
-- view.sql:1:52 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t GROUP BY
--                                                      ^
--   hint: GROUP BY needs at least one key

---
CREATE STREAMING VIEW v AS SELECT a FROM t ORDER BY
--- fails
-- view.sql:1:52 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t ORDER BY
--                                                      ^
--   hint: something is missing here

---
CREATE STREAMING VIEW v AS SELECT a FROM t GRUOP BY a
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at or near "GRUOP"
--   CREATE STREAMING VIEW v AS SELECT a FROM t GRUOP BY a
--                                              ^^^^^
--   hint: did you mean GROUP?

---
CREATE STREAMING VIEW v AS SELECT (a FROM t
--- fails
-- view.sql:1:38 SYNTAX_ERROR — syntax error at or near "FROM"
--   CREATE STREAMING VIEW v AS SELECT (a FROM t
--                                        ^^^^
--   hint: is a ) missing? The ( on line 1 is not closed

---
CREATE STREAMING VIEW v AS SELECT a) FROM t
--- fails
-- view.sql:1:36 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE STREAMING VIEW v AS SELECT a) FROM t
--                                      ^
--   hint: remove this ): it closes nothing, or a ( is missing before it

---
CREATE STREAMING VIEW v AS SELECT f(a FROM t
--- fails
-- view.sql:1:39 SYNTAX_ERROR — syntax error at or near "FROM"
--   CREATE STREAMING VIEW v AS SELECT f(a FROM t
--                                         ^^^^
--   hint: is a ) missing? The ( after f on line 1 is not closed

---
CREATE STREAMING VIEW v AS SELECT f(a,) FROM t
--- fails
-- view.sql:1:39 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE STREAMING VIEW v AS SELECT f(a,) FROM t
--                                         ^
--   hint: remove the comma before this

---
CREATE STREAMING VIEW v AS SELECT CASE WHEN a THEN b FROM t
--- fails
-- view.sql:1:52 SYNTAX_ERROR — syntax error at or near "b"
--   CREATE STREAMING VIEW v AS SELECT CASE WHEN a THEN b FROM t
--                                                      ^
--   hint: expected "END" here

---
CREATE STREAMING VIEW v AS SELECT CASE a FROM t
--- fails
-- view.sql:1:40 SYNTAX_ERROR — syntax error at or near "a"
--   CREATE STREAMING VIEW v AS SELECT CASE a FROM t
--                                          ^
--   hint: expected "END" here

---
CREATE STREAMING VIEW v AS SELECT CAST(a VARCHAR) FROM t
--- fails
-- view.sql:1:42 SYNTAX_ERROR — syntax error at or near "VARCHAR"
--   CREATE STREAMING VIEW v AS SELECT CAST(a VARCHAR) FROM t
--                                            ^^^^^^^
--   hint: expected "AS" here

---
CREATE STREAMING VIEW v AS SELECT CAST(a AS VARCHR) FROM t
--- fails
-- view.sql:1:45 UNKNOWN_TYPE — type "VARCHR" is not known
--   CREATE STREAMING VIEW v AS SELECT CAST(a AS VARCHR) FROM t
--                                               ^^^^^^
--   hint: did you mean VARCHAR?

---
CREATE STREAMING VIEW v AS SELECT a FROM t JOIN u ON
--- fails
-- view.sql:1:53 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t JOIN u ON
--                                                       ^
--   hint: expected a condition after ON

---
CREATE STREAMING VIEW v AS SELECT a FROM t JOIN
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t JOIN
--                                                  ^
--   hint: expected a table here

---
CREATE STREAMING VIEW v AS SELECT a FROM t, 
--- fails
-- view.sql:1:44 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t, 
--                                              ^
--   hint: remove the comma before this

---
CREATE STREAMING VIEW v AS SELECT a FROM t UNION
--- fails
-- view.sql:1:49 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t UNION
--                                                   ^
--   hint: something is missing here

---
CREATE STREAMING VIEW v AS SELECT a FROM t UNION ALL
--- fails
-- view.sql:1:53 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT a FROM t UNION ALL
--                                                       ^
--   hint: something is missing here

---
CREATE STREAMING VIEW v AS WITH x AS SELECT 1 SELECT 2
--- fails
-- view.sql:1:38 SYNTAX_ERROR — syntax error at or near "SELECT"
--   CREATE STREAMING VIEW v AS WITH x AS SELECT 1 SELECT 2
--                                        ^^^^^^
--   hint: expected "(" here

---
CREATE STREAMING VIEW v AS WITH x AS (SELECT 1)
--- fails
-- view.sql:1:48 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS WITH x AS (SELECT 1)
--                                                  ^
--   hint: expected a query here

---
CREATE STREAMING VIEW v AS SELECT a FROM STREAM t
--- fails
-- view.sql:1:42 SYNTAX_ERROR — syntax error at or near "STREAM"
--   CREATE STREAMING VIEW v AS SELECT a FROM STREAM t
--                                            ^^^^^^
--   hint: write FROM t: every view reads its inputs as they change

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts)
--- fails
-- view.sql:1:42 SYNTAX_ERROR — TUMBLE takes 1 interval, not 0
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts)
--                                            ^^^^^^
--   hint: write TUMBLE(t, ts, size)

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, '1 minute')
--- fails
-- view.sql:1:56 SYNTAX_ERROR — syntax error at or near "1 minute"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, '1 minute')
--                                                          ^^^^^^^^^^
--   hint: expected an interval here: INTERVAL '10' SECOND

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:61 SYNTAX_ERROR — syntax error at or near "1"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, INTERVAL '1' MINUTE)
--                                                               ^^^
--   hint: expected "," or ")" here

---
CREATE STREAMING VIEW v AS SELECT a FROM HOP(t, ts, INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:42 SYNTAX_ERROR — HOP takes 2 intervals, not 1
--   CREATE STREAMING VIEW v AS SELECT a FROM HOP(t, ts, INTERVAL '1' MINUTE)
--                                            ^^^
--   hint: write HOP(t, ts, slide, size)

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBL(t, ts, INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:42 UNKNOWN_FUNCTION — table function "tumbl" is not known
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBL(t, ts, INTERVAL '1' MINUTE)
--                                            ^^^^^
--   hint: did you mean TUMBLE?

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:42 SYNTAX_ERROR — SESSION takes 1 interval, not 2
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '1' MINUTE, INTERVAL '1' MINUTE)
--                                            ^^^^^^^
--   hint: write SESSION(t, ts, gap)

---
CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a PATTERN (a b) WITHIN 5 DEFINE a AS x > 1)
--- fails
-- view.sql:1:97 SYNTAX_ERROR — syntax error at or near "5"
--   CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a PATTERN (a b) WITHIN 5 DEFINE a AS x > 1)
--                                                                                                   ^
--   hint: expected an interval here: INTERVAL '10' SECOND

---
CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a PATTERN (a b DEFINE a AS x > 1)
--- fails
-- view.sql:1:107 SYNTAX_ERROR — syntax error at the end of the statement
--   CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a PATTERN (a b DEFINE a AS x > 1)
--                                                                                                             ^
--   hint: expected DEFINE here

---
CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a DEFINE a AS x > 1)
--- fails
-- view.sql:1:76 SYNTAX_ERROR — syntax error at or near "DEFINE"
--   CREATE STREAMING VIEW v AS SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a DEFINE a AS x > 1)
--                                                                              ^^^^^^
--   hint: expected PATTERN here

---
CREATE STREAMING VIEW v AS INSERT INTO t VALUES (1)
--- fails
-- view.sql:1:28 SYNTAX_ERROR — syntax error at or near "INSERT"
--   CREATE STREAMING VIEW v AS INSERT INTO t VALUES (1)
--                              ^^^^^^

---
SELECT 'abc
--- fails
-- view.sql:1:8 SYNTAX_ERROR — unterminated string
--   SELECT 'abc
--          ^
--   hint: close it with '

---
SELECT "abc
--- fails
-- view.sql:1:8 SYNTAX_ERROR — unterminated quoted name
--   SELECT "abc
--          ^
--   hint: close it with "

---
SELECT /* abc
--- fails
-- view.sql:1:8 SYNTAX_ERROR — unterminated comment
--   SELECT /* abc
--          ^^
--   hint: close it with */

---
SELECT a FROM t WHERE a = 'it's'
--- fails
-- view.sql:1:32 SYNTAX_ERROR — unterminated string
--   SELECT a FROM t WHERE a = 'it's'
--                                  ^
--   hint: close it with '

---
SELECT `a` FROM t
--- fails
-- view.sql:1:8 SYNTAX_ERROR — names are not quoted with backticks in trino
--   SELECT `a` FROM t
--          ^^^
--   hint: quote names with "…", or write -- dialect: spark at the top of the file

---
SELECT a FROM t; SELEC b; SELECT c FRM t u v; SELECT d
--- fails
-- view.sql:1:18 UNKNOWN_STATEMENT — SELEC is not a statement here
--   SELECT a FROM t; SELEC b; SELECT c FRM t u v; SELECT d
--                    ^^^^^
--   hint: did you mean SELECT?
-- view.sql:1:36 SYNTAX_ERROR — syntax error at or near "FRM"
--   SELECT a FROM t; SELEC b; SELECT c FRM t u v; SELECT d
--                                      ^^^
--   hint: did you mean FROM?

---
SELECT * FROM t LIMIT
--- fails
-- view.sql:1:22 SYNTAX_ERROR — syntax error at the end of the statement
--   SELECT * FROM t LIMIT
--                        ^
--   hint: something is missing here

---
SELECT * FROM t LIMIT 1 LIMIT 2
--- fails
-- view.sql:1:25 DUPLICATE_CLAUSE — LIMIT is given twice
--   SELECT * FROM t LIMIT 1 LIMIT 2
--                           ^^^^^
--   hint: remove one of them

---
SELECT * FROM t WHERE a = 1 WHERE b = 2
--- fails
-- view.sql:1:29 DUPLICATE_CLAUSE — WHERE is given twice
--   SELECT * FROM t WHERE a = 1 WHERE b = 2
--                               ^^^^^
--   hint: remove one of them

---
SELECT a AS FROM t
--- fails
-- view.sql:1:18 SYNTAX_ERROR — syntax error at or near "t"
--   SELECT a AS FROM t
--                    ^

---
SELECT a FROM t AS
--- fails
-- view.sql:1:19 SYNTAX_ERROR — syntax error at the end of the statement
--   SELECT a FROM t AS
--                     ^
--   hint: expected a name after AS

---
SELECT INTERVAL '5' FORTNIGHT FROM t
--- fails
-- view.sql:1:17 SYNTAX_ERROR — the interval is not valid
--   SELECT INTERVAL '5' FORTNIGHT FROM t
--                   ^^^
--   hint: write it as INTERVAL '10' SECOND

---
SELECT a FROM t WHERE a IN ()
--- fails
-- view.sql:1:23 SYNTAX_ERROR — the list of IN is empty
--   SELECT a FROM t WHERE a IN ()
--                         ^
--   hint: give it at least one value

---
SELECT a FROM t WHERE a BETWEEN 1
--- fails
-- view.sql:1:34 SYNTAX_ERROR — syntax error at the end of the statement
--   SELECT a FROM t WHERE a BETWEEN 1
--                                    ^
--   hint: something is missing here

---
SELECT a FROM t WHERE a LIKE
--- fails
-- view.sql:1:29 SYNTAX_ERROR — syntax error at the end of the statement
--   SELECT a FROM t WHERE a LIKE
--                               ^
--   hint: something is missing here

---
SELECT count(* FROM t
--- fails
-- view.sql:1:16 SYNTAX_ERROR — syntax error at or near "FROM"
--   SELECT count(* FROM t
--                  ^^^^
--   hint: is a ) missing? The ( after count on line 1 is not closed

---
SELECT sum(a) OVER FROM t
--- fails
-- view.sql:1:20 SYNTAX_ERROR — syntax error at or near "FROM"
--   SELECT sum(a) OVER FROM t
--                      ^^^^
--   hint: expected "(" or the name of a window after OVER

---
SELECT sum(a) OVER (PARTITION a) FROM t
--- fails
-- view.sql:1:31 SYNTAX_ERROR — syntax error at or near "a"
--   SELECT sum(a) OVER (PARTITION a) FROM t
--                                 ^
--   hint: is BY missing after PARTITION?

---
SELECT ? FROM t
--- fails
-- view.sql:1:15 UNSUPPORTED_SYNTAX — a parameter cannot be used here
--   SELECT ? FROM t
--                 ^
--   hint: describe the rows with SELECT … FROM … WHERE … GROUP BY

---
SELECT :a FROM t
--- fails
-- view.sql:1:16 UNSUPPORTED_SYNTAX — a parameter cannot be used here
--   SELECT :a FROM t
--                  ^
--   hint: describe the rows with SELECT … FROM … WHERE … GROUP BY

---
SELECT @a FROM t
--- fails
-- view.sql:1:16 UNSUPPORTED_SYNTAX — a parameter cannot be used here
--   SELECT @a FROM t
--                  ^
--   hint: describe the rows with SELECT … FROM … WHERE … GROUP BY

---
SELECT a FROM t FOR UPDATE
--- fails
-- view.sql:1:8 UNSUPPORTED_SYNTAX — FOR UPDATE cannot be used here
--   SELECT a FROM t FOR UPDATE
--          ^^^^^^^^
--   hint: describe the rows with SELECT … FROM … WHERE … GROUP BY

---
SELECT a INTO x FROM t
--- fails
-- view.sql:1:15 UNSUPPORTED_SYNTAX — SELECT INTO cannot be used here
--   SELECT a INTO x FROM t
--                 ^
--   hint: describe the rows with SELECT … FROM … WHERE … GROUP BY

---
SELECT TOP 3 a FROM t
--- fails
-- view.sql:1:12 SYNTAX_ERROR — syntax error at or near "3"
--   SELECT TOP 3 a FROM t
--              ^
--   hint: is a comma or an operator missing before 3?

---
CREATE STREAMING VIEW v AS SELECT bidder FROM TUMBLE(bid, PROCTIME(), INTERVAL '10' SECOND)
--- fails
-- view.sql:1:59 NON_DETERMINISTIC — PROCTIME is refused: the clock is not part of the data: a replay would differ
--   CREATE STREAMING VIEW v AS SELECT bidder FROM TUMBLE(bid, PROCTIME(), INTERVAL '10' SECOND)
--                                                             ^^^^^^^^
--   hint: use the event-time column of the table

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '10' MINUTE * k)
--- fails
-- view.sql:1:80 NOT_CONSTANT — the gap of SESSION must be a constant, and "k" is none
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '10' MINUTE * k)
--                                                                                  ^
--   hint: write a constant: INTERVAL '10' MINUTE * 3; for gaps that differ by key, unite one SELECT for each with UNION ALL

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, k)
--- fails
-- view.sql:1:57 NOT_CONSTANT — the gap of SESSION must be a constant, and "k" is none
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, k)
--                                                           ^
--   hint: write a constant: INTERVAL '10' MINUTE * 3; for gaps that differ by key, unite one SELECT for each with UNION ALL

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, CASE WHEN k > 1 THEN INTERVAL '1' MINUTE ELSE INTERVAL '2' MINUTE END)
--- fails
-- view.sql:1:57 NOT_CONSTANT — the gap of SESSION must be a constant, and "CASE" is none
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, CASE WHEN k > 1 THEN INTERVAL '1' MINUTE ELSE INTERVAL '2' MINUTE END)
--                                                           ^^^^
--   hint: write a constant: INTERVAL '10' MINUTE * 3; for gaps that differ by key, unite one SELECT for each with UNION ALL

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '10' MINUTE + INTERVAL '1' MONTH)
--- fails
-- view.sql:1:56 INVALID_WINDOW — the size of TUMBLE adds months to days
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '10' MINUTE + INTERVAL '1' MONTH)
--                                                          ^^^^^^^^
--   hint: write months or days: months have no fixed length

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '10' MINUTE - INTERVAL '1' HOUR)
--- fails
-- view.sql:1:56 INVALID_WINDOW — the size of TUMBLE is not above zero
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '10' MINUTE - INTERVAL '1' HOUR)
--                                                          ^^^^^^^^
--   hint: write INTERVAL '1' HOUR

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '-10' MINUTE)
--- fails
-- view.sql:1:56 INVALID_WINDOW — the size of TUMBLE is not above zero
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, INTERVAL '-10' MINUTE)
--                                                          ^^^^^^^^
--   hint: write INTERVAL '1' HOUR

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, NULL)
--- fails
-- view.sql:1:57 SYNTAX_ERROR — syntax error at or near "NULL"
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, NULL)
--                                                           ^^^^
--   hint: expected an interval here: INTERVAL '10' SECOND

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL NULL MINUTE)
--- fails
-- view.sql:1:66 SYNTAX_ERROR — syntax error at or near "NULL"
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL NULL MINUTE)
--                                                                    ^^^^
--   hint: write it as INTERVAL '10' SECOND

---
CREATE STREAMING VIEW v AS SELECT a FROM HOP(t, ts, INTERVAL '10' MINUTE / 0, INTERVAL '1' HOUR)
--- fails
-- view.sql:1:76 SYNTAX_ERROR — syntax error at or near "0"
--   CREATE STREAMING VIEW v AS SELECT a FROM HOP(t, ts, INTERVAL '10' MINUTE / 0, INTERVAL '1' HOUR)
--                                                                              ^
--   hint: divide by a number above zero

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '1' SECOND / 7)
--- fails
-- view.sql:1:57 INVALID_WINDOW — the gap of SESSION has a part of a microsecond
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(t, ts, INTERVAL '1' SECOND / 7)
--                                                           ^^^^^^^^
--   hint: round it

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, 10 * 3)
--- fails
-- view.sql:1:62 SYNTAX_ERROR — syntax error at or near ")"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(t, ts, 10 * 3)
--                                                                ^
--   hint: the size of TUMBLE needs a unit: INTERVAL '10' MINUTE

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:93 SYNTAX_ERROR — TUMBLE has no parameter "SLIDE"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '1' MINUTE)
--                                                                                               ^^^^^
--   hint: known: DATA, TIMECOL, SIZE, OFFSET

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts))
--- fails
-- view.sql:1:42 SYNTAX_ERROR — TUMBLE needs SIZE
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts))
--                                            ^^^^^^
--   hint: write DATA => …, TIMECOL => …, SIZE => …

---
CREATE STREAMING VIEW v AS SELECT a FROM SESSION(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' MINUTE, GAP => INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:122 SYNTAX_ERROR — GAP is given twice
--   CREATE STREAMING VIEW v AS SELECT a FROM SESSION(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '1' MINUTE, GAP => INTERVAL '1' MINUTE)
--                                                                                                                            ^^^
--   hint: remove one of them

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:66 SYNTAX_ERROR — syntax error at or near "DESCRIPTOR"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(DATA => TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)
--                                                                    ^^^^^^^^^^
--   hint: name every parameter, or none

---
CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)
--- fails
-- view.sql:1:74 SYNTAX_ERROR — syntax error at or near "SIZE"
--   CREATE STREAMING VIEW v AS SELECT a FROM TUMBLE(TABLE t, DESCRIPTOR(ts), SIZE => INTERVAL '1' MINUTE)
--                                                                            ^^^^
--   hint: name every parameter, or none
