---
-- dialect: spark
SELECT count_if(a > 1), collect_list(a), date_trunc('MINUTE', ts), `a b`, "str" FROM t
--- prints
SELECT COUNT_IF(a > 1), COALESCE(ARRAY_AGG(a) FILTER (WHERE a IS NOT NULL), ARRAY[]), DATE_TRUNC('MINUTE', ts), "a b", 'str' FROM t

---
-- dialect: spark
SELECT window.start, count(*) FROM t GROUP BY window(ts, '1 minute')
--- prints
SELECT window.start, COUNT(*) FROM t GROUP BY window(ts, '1 minute')

---
-- dialect: spark
SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a
--- prints
SELECT * FROM t LEFT SEMI JOIN u ON t.a = u.a

---
-- dialect: spark
SELECT explode(arr) AS x FROM t
--- prints
SELECT EXPLODE(arr) AS x FROM t

---
-- dialect: spark
SELECT a, x FROM t LATERAL VIEW explode(arr) e AS x
--- prints
SELECT a, x FROM t CROSS JOIN UNNEST(arr) AS e(x)

---
-- dialect: spark
SELECT to_timestamp(a), cast(a as timestamp), cast(a as string), a / b, nvl(a, b), ts + INTERVAL 5 MINUTES FROM t
--- prints
SELECT CAST(a AS TIMESTAMP), CAST(a AS TIMESTAMP WITH TIME ZONE), CAST(a AS VARCHAR), CAST(a AS DOUBLE) / b, COALESCE(a, b), ts + INTERVAL '5' MINUTE FROM t

---
-- dialect: duckdb
SELECT a::INTEGER, list_aggregate(x, 'sum'), date_trunc('minute', ts), time_bucket(INTERVAL '1 minute', ts), strftime(ts, '%Y') FROM t
--- prints
SELECT CAST(a AS INTEGER), list_aggregate(x, 'sum'), DATE_TRUNC('MINUTE', ts), DATE_BIN(INTERVAL '1' MINUTE, ts), DATE_FORMAT(ts, '%Y') FROM t

---
-- dialect: duckdb
FROM t SELECT a
--- prints
SELECT a FROM t

---
-- dialect: duckdb
SELECT * EXCLUDE (a) FROM t
--- prints
SELECT * EXCEPT (a) FROM t

---
-- dialect: postgres
SELECT a::text, date_trunc('minute', ts), x ->> 'a', now() - interval '1 hour', string_agg(a, ',') FROM t
--- prints
SELECT CAST(a AS VARCHAR), DATE_TRUNC('MINUTE', ts), JSON_EXTRACT_SCALAR(x, '$.a' ERROR ON ERROR), CURRENT_TIMESTAMP - INTERVAL '1' HOUR, LISTAGG(a, ',') FROM t

---
-- dialect: postgres
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b
--- prints
SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b

---
-- dialect: snowflake
SELECT a:b::string, iff(a > 1, 2, 3), dateadd(minute, 1, ts) FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1
--- prints
SELECT CAST(JSON_EXTRACT_SCALAR(a, '$.b' ERROR ON ERROR) AS VARCHAR), IF(a > 1, 2, 3), DATE_ADD('MINUTE', 1, ts) FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) = 1

---
-- dialect: bigquery
SELECT `a`, SAFE_CAST(b AS INT64), TIMESTAMP_TRUNC(ts, MINUTE), COUNTIF(a > 1) FROM `p.d.t`
--- prints
SELECT a, TRY_CAST(b AS BIGINT), DATE_TRUNC('MINUTE', ts), COUNT_IF(a > 1) FROM p.d.t
