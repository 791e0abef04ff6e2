---
SELECT a, b FROM t

---
SELECT * FROM t

---
SELECT t.* FROM t

---
SELECT DISTINCT a FROM t

---
SELECT a FROM t WHERE a > 1 AND b <> 2 OR NOT c

---
SELECT a FROM t WHERE a IN (1, 2, 3)

---
SELECT a FROM t WHERE a NOT IN (SELECT b FROM u)

---
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)

---
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)

---
SELECT a FROM t WHERE a BETWEEN 1 AND 2

---
SELECT a FROM t WHERE a LIKE 'x%' ESCAPE '!'

---
SELECT a FROM t WHERE a IS NULL AND b IS NOT NULL

---
SELECT a FROM t WHERE a IS DISTINCT FROM b

---
SELECT a FROM t WHERE a IS NOT DISTINCT FROM b

---
SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t

---
SELECT CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' END FROM t

---
SELECT CAST(a AS VARCHAR), TRY_CAST(b AS BIGINT) FROM t

---
SELECT CAST(a AS STRING), CAST(b AS TIMESTAMPTZ) FROM t
--- prints
SELECT CAST(a AS VARCHAR), CAST(b AS TIMESTAMP WITH TIME ZONE) FROM t

---
SELECT CAST(a AS TIMESTAMP(3) WITH TIME ZONE), CAST(b AS TIMESTAMP WITH TIME ZONE) FROM t

---
SELECT a || b, a + b - c * d / e % f FROM t

---
SELECT -a, +b, a[1], m['k'] FROM t
--- prints
SELECT -a, b, a[1], m['k'] FROM t

---
SELECT ts + INTERVAL '1' DAY, ts - INTERVAL '5' MINUTES FROM t
--- prints
SELECT ts + INTERVAL '1' DAY, ts - INTERVAL '5' MINUTE FROM t

---
SELECT INTERVAL '1' YEAR, INTERVAL 5 SECOND, INTERVAL '1 hour' FROM t
--- prints
SELECT INTERVAL '1' YEAR, INTERVAL '5' SECOND, INTERVAL '1' HOUR FROM t

---
SELECT DATE '2026-01-01', TIMESTAMP '2026-01-01 00:00:00', TIMESTAMP '2026-01-01 00:00:00.123', TIMESTAMP '2026-01-01 00:00:00 UTC', TIME '10:00:00'

---
SELECT TIMESTAMP '2026-01-01 00:00:00+02:00', TIMESTAMP '2026-01-01 00:00:00 +02:00', TIMESTAMP '2026-01-01T00:00:00Z'

---
SELECT a FROM t ORDER BY a DESC NULLS LAST, b LIMIT 10
--- prints
SELECT a FROM t ORDER BY a DESC, b LIMIT 10

---
SELECT a FROM t ORDER BY a OFFSET 5 LIMIT 10

---
SELECT a FROM t ORDER BY a LIMIT 10 OFFSET 5
--- prints
SELECT a FROM t ORDER BY a OFFSET 5 LIMIT 10

---
SELECT a FROM t FETCH FIRST 5 ROWS ONLY

---
SELECT a FROM t UNION ALL SELECT b FROM u

---
SELECT a FROM t UNION SELECT b FROM u

---
SELECT a FROM t INTERSECT SELECT b FROM u EXCEPT SELECT c FROM v

---
(SELECT a FROM t) UNION ALL (SELECT b FROM u ORDER BY b LIMIT 1)

---
(SELECT a FROM t)
--- prints
SELECT a FROM t

---
WITH x AS (SELECT a FROM t), y AS (SELECT * FROM x) SELECT * FROM y

---
WITH x (a, b) AS (SELECT a, b FROM t) SELECT * FROM x
--- prints
WITH x(a, b) AS (SELECT a, b FROM t) SELECT * FROM x

---
SELECT * FROM (SELECT a FROM t) AS s

---
SELECT * FROM (SELECT a FROM t) s
--- prints
SELECT * FROM (SELECT a FROM t) AS s

---
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y)

---
SELECT coalesce(a, b), nullif(a, b), if(a > 1, 2, 3), greatest(a, b), least(a, b) FROM t
--- prints
SELECT COALESCE(a, b), NULLIF(a, b), IF(a > 1, 2, 3), GREATEST(a, b), LEAST(a, b) FROM t

---
SELECT extract(hour FROM ts), year(ts), month(ts), day(ts), hour(ts), minute(ts), second(ts), day_of_week(ts), day_of_year(ts), week(ts), quarter(ts), dow(ts), doy(ts) FROM t
--- prints
SELECT EXTRACT(HOUR FROM ts), YEAR(ts), MONTH(ts), DAY(ts), HOUR(ts), MINUTE(ts), SECOND(ts), DAY_OF_WEEK(ts), DAY_OF_YEAR(ts), WEEK_OF_YEAR(ts), QUARTER(ts), DAY_OF_WEEK(ts), DAY_OF_YEAR(ts) FROM t

---
SELECT current_timestamp, current_date, localtimestamp, now() FROM t
--- prints
SELECT CURRENT_TIMESTAMP, CURRENT_DATE, LOCALTIMESTAMP, CURRENT_TIMESTAMP FROM t

---
SELECT ts AT TIME ZONE 'Europe/Berlin', at_timezone(ts, 'UTC') FROM t

---
SELECT a AS "select", "Weird Name", "plain" FROM t
--- prints
SELECT a AS "select", "weird name", plain FROM t

---
SELECT A, B.C FROM MyTable AS T1
--- prints
SELECT a, b.c FROM mytable AS t1

---
SELECT a FROM cat.sch.t

---
SELECT 'it''s', U&'x', X'AB', 1.5, 1e10, .5, 100000000000000000000, TRUE, FALSE, NULL
--- prints
SELECT 'it''s', U&'x', x'AB', 1.5, 1e10, 0.5, 100000000000000000000, TRUE, FALSE, NULL

---
SELECT a FROM t TABLESAMPLE BERNOULLI (10)

---
SELECT a FROM t WHERE a = ANY (SELECT b FROM u) AND c > ALL (SELECT d FROM u)

---
SELECT a FROM t WHERE (a, b) IN (SELECT a, b FROM u)

---
SELECT (SELECT max(b) FROM u) AS m FROM t
--- prints
SELECT (SELECT MAX(b) FROM u) AS m FROM t

---
SELECT a FROM t WHERE a = 1 -- trailing comment
--- prints
SELECT a FROM t WHERE a = 1

---
SELECT /* c */ a FROM t
--- prints
SELECT a FROM t

---
SELECT a FROM ((SELECT 1 AS a))

---
SELECT date_trunc('month', ts), date_trunc('day', DATE '2026-01-01') FROM t
--- prints
SELECT DATE_TRUNC('MONTH', ts), DATE_TRUNC('DAY', DATE '2026-01-01') FROM t

---
SELECT a.b.c.d FROM a

---
SELECT (a > 1) = (b > 2), NOT a = b, a = b = c FROM t

---
TABLE t
--- prints
SELECT * FROM t

---
FROM t
--- prints
SELECT * FROM t

---
SELECT a FROM t WHERE a NOT LIKE 'x' AND b NOT BETWEEN 1 AND 2 AND c NOT IN (1, 2) AND d IS NOT NULL AND NOT e AND NOT (f IN (1))

---
SELECT a FROM t WHERE NOT (a AND b) IN (TRUE) AND NOT a + 1 IN (2)
--- prints
SELECT a FROM t WHERE (a AND b) NOT IN (TRUE) AND a + 1 NOT IN (2)

---
SELECT a FROM t WHERE a IS NOT TRUE AND b IS NOT FALSE AND c NOT ILIKE 'x' AND d NOT LIKE 'x' ESCAPE '!'
--- prints
SELECT a FROM t WHERE a IS NOT TRUE AND b IS NOT FALSE AND NOT LOWER(c) LIKE 'x' AND d NOT LIKE 'x' ESCAPE '!'

---
SELECT NOT NOT a, NOT a IS NULL, (NOT a) IS NULL, NOT a = b, (NOT a) IN (TRUE) FROM t
--- prints
SELECT NOT NOT a, a IS NOT NULL, (NOT a) IS NULL, NOT a = b, (NOT a) IN (TRUE) FROM t

---
SELECT * FROM t PIVOT(SUM(a) AS s, COUNT(*) AS n FOR b IN (1, 2 AS second)) AS p
