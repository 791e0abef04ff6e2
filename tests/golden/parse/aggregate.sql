---
SELECT count(*), count(DISTINCT a) FROM t
--- prints
SELECT COUNT(*), COUNT(DISTINCT a) FROM t

---
SELECT date_trunc('minute', ts), count(*) FROM t GROUP BY date_trunc('minute', ts)
--- prints
SELECT DATE_TRUNC('MINUTE', ts), COUNT(*) FROM t GROUP BY DATE_TRUNC('MINUTE', ts)

---
SELECT a, sum(b) FROM t GROUP BY a HAVING sum(b) > 1
--- prints
SELECT a, SUM(b) FROM t GROUP BY a HAVING SUM(b) > 1

---
SELECT a, b, sum(c) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())
--- prints
SELECT a, b, SUM(c) FROM t GROUP BY GROUPING SETS ((a, b), (a), ())

---
SELECT a, b, sum(c) FROM t GROUP BY ROLLUP (a, b)
--- prints
SELECT a, b, SUM(c) FROM t GROUP BY ROLLUP (a, b)

---
SELECT a, b, sum(c) FROM t GROUP BY CUBE (a, b)
--- prints
SELECT a, b, SUM(c) FROM t GROUP BY CUBE (a, b)

---
SELECT a, grouping(a) FROM t GROUP BY a
--- prints
SELECT a, GROUPING(a) FROM t GROUP BY a

---
SELECT count(*) FILTER (WHERE a > 1) FROM t
--- prints
SELECT COUNT(*) FILTER (WHERE a > 1) FROM t

---
SELECT sum(a) OVER (PARTITION BY b ORDER BY c RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM t
--- prints
SELECT SUM(a) OVER (PARTITION BY b ORDER BY c RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) FROM t

---
SELECT sum(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING) FROM t
--- prints
SELECT SUM(a) OVER (PARTITION BY b ORDER BY c ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING) FROM t

---
SELECT row_number() OVER w AS rn FROM t WINDOW w AS (PARTITION BY b ORDER BY c DESC)
--- prints
SELECT ROW_NUMBER() OVER w AS rn FROM t WINDOW w AS (PARTITION BY b ORDER BY c DESC)

---
SELECT lag(a, 1, 0) IGNORE NULLS OVER (ORDER BY b) FROM t
--- prints
SELECT LAG(a, 1, 0) IGNORE NULLS OVER (ORDER BY b) FROM t

---
SELECT lag(a) OVER (ORDER BY b), lead(a, 2) OVER (ORDER BY b), first_value(a) OVER (ORDER BY b), nth_value(a, 2) OVER (ORDER BY b), ntile(4) OVER (ORDER BY b) FROM t
--- prints
SELECT LAG(a) OVER (ORDER BY b), LEAD(a, 2) OVER (ORDER BY b), FIRST_VALUE(a) OVER (ORDER BY b), NTH_VALUE(a, 2) OVER (ORDER BY b), NTILE(4) OVER (ORDER BY b) FROM t

---
SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) <= 3
--- prints
SELECT a FROM t QUALIFY ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) <= 3

---
SELECT approx_percentile(a, 0.5), approx_percentile(a, ARRAY[0.5, 0.9]), approx_distinct(b) FROM t
--- prints
SELECT APPROX_PERCENTILE(a, 0.5), APPROX_PERCENTILE(a, ARRAY[0.5, 0.9]), APPROX_DISTINCT(b) FROM t

---
SELECT array_agg(a ORDER BY b), array_agg(DISTINCT a), listagg(a, ',') WITHIN GROUP (ORDER BY a), string_agg(a, ',') FROM t
--- prints
SELECT ARRAY_AGG(a ORDER BY b), ARRAY_AGG(DISTINCT a), LISTAGG(a, ',') WITHIN GROUP (ORDER BY a), LISTAGG(a, ',') FROM t

---
SELECT max_by(a, b), min_by(a, b), arbitrary(c), any_value(c), bool_and(d), bool_or(d), every(d) FROM t
--- prints
SELECT MAX_BY(a, b), MIN_BY(a, b), ARBITRARY(c), ARBITRARY(c), BOOL_AND(d), BOOL_OR(d), every(d) FROM t

---
SELECT stddev(a), stddev_pop(a), variance(a), var_pop(a), corr(a, b), covar_pop(a, b), geometric_mean(a) FROM t
--- prints
SELECT STDDEV(a), STDDEV_POP(a), VARIANCE(a), VAR_POP(a), CORR(a, b), COVAR_POP(a, b), geometric_mean(a) FROM t

---
SELECT sum(DISTINCT a) FROM t
--- prints
SELECT SUM(DISTINCT a) FROM t

---
SELECT a FROM t GROUP BY 1 ORDER BY 1

---
SELECT a FROM t GROUP BY ALL

---
SELECT array_agg(a ORDER BY b) FILTER (WHERE a > 1) OVER (ORDER BY c) FROM t
--- prints
SELECT ARRAY_AGG(a ORDER BY b) FILTER (WHERE a > 1) OVER (ORDER BY c) FROM t
