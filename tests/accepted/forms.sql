-- What `check` says of one SELECT a line. Every engine can run those that are ok.
CREATE TABLE t (id BIGINT, a INTEGER, k VARCHAR, i BIGINT, v BIGINT, x DOUBLE, d DECIMAL(9,2), f BOOLEAN, day DATE, xs ARRAY(BIGINT), ys ARRAY(VARCHAR), m MAP(VARCHAR, BIGINT), n MAP(VARCHAR, BIGINT), o BIGINT, r ROW(p BIGINT, q VARCHAR), rs ARRAY(ROW(p BIGINT, q VARCHAR)), ts TIMESTAMP, tz TIMESTAMP WITH TIME ZONE)
WITH (connector = 'files', path = 't') FORMAT PLAIN ENCODE JSON;
CREATE TABLE b (id BIGINT, k VARCHAR, v BIGINT) WITH (connector='files', path='b') FORMAT PLAIN ENCODE JSON;
CREATE TABLE c (id BIGINT, k VARCHAR, v BIGINT) WITH (connector='files', path='c') FORMAT PLAIN ENCODE JSON;
CREATE TABLE z (id BIGINT, k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH (connector='files', path='z') FORMAT PLAIN ENCODE JSON;
CREATE TABLE y (id BIGINT, k VARCHAR, v BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE) WITH (connector='files', path='y') FORMAT PLAIN ENCODE JSON;

-- FROM with commas
--: ok
SELECT id, (r).*, (t.r).* FROM t;
SELECT id, CAST(NULL AS ROW(p BIGINT, q VARCHAR)) AS l FROM t;
SELECT k, any_value(v) AS a FROM t GROUP BY k;
SELECT id FROM t WHERE (f);
SELECT id, CAST(a AS SMALLINT) AS c, CAST(a AS TINYINT) AS d FROM t;
SELECT id, CAST(ts AS TIME) + INTERVAL '1' HOUR AS c, CAST(k AS TIME) - INTERVAL '1' HOUR AS d, hour(CAST(tz AS TIME)) AS h, minute(CAST(ts AS TIME)) AS m, second(CAST(ts AS TIME)) AS s FROM t;
SELECT id, date_trunc('hour', CAST(ts AS TIME)) AS c, date_trunc('minute', CAST(ts AS TIME)) AS d, date_trunc('second', CAST(ts AS TIME)) AS e, date_diff('minute', CAST(ts AS TIME), TIME '12:00') AS m FROM t WHERE CAST(ts AS TIME) BETWEEN TIME '9:00' AND TIME '17:30:00';
SELECT id, to_unixtime(ts - CAST(day AS TIMESTAMP)) AS c, to_unixtime(CAST(ts AS TIME)) AS d FROM t;
SELECT id, CAST(k AS UUID) AS u, CAST(TRY_CAST(k AS UUID) AS VARCHAR) AS v FROM t;
SELECT id, ts + (ts - CAST(day AS TIMESTAMP)) AS c, tz - a * INTERVAL '1' MINUTE AS d, extract(day FROM ts - CAST(day AS TIMESTAMP)) AS e FROM t WHERE CAST(ts AS TIME) - TIME '9:00' > INTERVAL '1' HOUR;
SELECT k, extract(day FROM sum(ts - CAST(day AS TIMESTAMP))) AS c, extract(day FROM avg(ts - CAST(day AS TIMESTAMP))) AS d, max(CAST(ts AS TIME)) AS e FROM t GROUP BY k;
SELECT id, json_extract_scalar(k, '$.a' ERROR ON ERROR) AS c, ROW(id AS x, k AS y) AS r FROM t;
SELECT id, codepoint(lpad(k, 1, ' ')) AS c, lpad(k, a, k) AS p, length(to_utf8(k)) AS n, date_format(day, '%d') AS d FROM t;
SELECT id, json_format(CAST(ROW(id AS p, k AS q, xs AS r) AS JSON)) AS a, json_object('x': k, 'y': d, 'z': json_array(f, day)) AS b FROM t;
SELECT k, json_format(CAST(array_agg(v ORDER BY v) AS JSON)) AS a FROM t GROUP BY k;
SELECT id FROM t AS x WHERE ((f));
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b LEFT JOIN c ON b.id = c.id;
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b FULL JOIN c ON b.id = c.id;
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b RIGHT JOIN c ON b.id = c.id AND b.v = c.v WHERE t.id = c.id;
SELECT b.id AS x, c.id AS y FROM b, c FULL JOIN z ON c.id = z.id;
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b JOIN c USING (id);
SELECT count(*) AS n FROM t FULL JOIN y ON t.id = y.id, b FULL JOIN c ON b.id = c.id;
SELECT t.id, u.x FROM b, t CROSS JOIN UNNEST(t.xs) AS u(x) FULL JOIN c ON c.id = u.x;
SELECT t.id, l.x FROM b, t, LATERAL (SELECT count(*) AS x FROM c WHERE c.id = t.id) l;
SELECT t.id, l.x FROM b, t JOIN LATERAL (SELECT c.v AS x FROM c WHERE c.id = t.id AND c.v = b.v) l ON true;
SELECT t.id, l.x FROM t LEFT JOIN LATERAL (SELECT b.v + t.v AS x FROM b WHERE b.v < t.v ORDER BY b.v DESC, x LIMIT 2) l ON true;
SELECT t.id, l.n FROM t CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE b.v < t.v) AS n FROM b WHERE b.k > t.k HAVING count(*) > 1) l;
SELECT t.id, l.x FROM t CROSS JOIN LATERAL (SELECT b.v AS x FROM b WHERE b.k = t.k UNION ALL SELECT c.v FROM c WHERE c.id <> t.id) l;
SELECT t.id FROM t WHERE t.v IN (SELECT count(*) FROM b WHERE b.k = t.k) AND EXISTS (SELECT 1 FROM b WHERE EXISTS (SELECT 1 FROM c WHERE c.id = t.id AND c.v = b.v));
SELECT t.id FROM t WHERE t.v NOT IN (SELECT b.v FROM b RIGHT JOIN (SELECT c.id FROM c WHERE c.k = t.k) q ON q.id = b.id AND b.k > t.k);
SELECT t.id, (SELECT count(*) FROM b WHERE b.v < t.v AND b.k <> t.k) AS n, (SELECT b.v FROM b WHERE b.id <> t.id ORDER BY abs(b.v - t.v), b.v LIMIT 1) AS m FROM t;
SELECT t.id, (SELECT max(b.v) FROM b WHERE b.v > t.x AND b.v > t.d AND (b.id > 1 OR t.f)) AS n, (SELECT min(z.v) FROM z WHERE z.ts > t.ts OR date(z.ts) = t.day) AS m FROM t;
SELECT t.id, (SELECT min(b.v) FROM b WHERE b.v > hour(t.tz) AND b.k < CAST(t.i AS VARCHAR)) AS n FROM t;
SELECT * FROM (SELECT k, id, v FROM b) PIVOT (sum(v) AS s, count(*) AS n FOR k IN ('x', 'y' AS other));
SELECT k, name, x FROM b UNPIVOT (x FOR name IN (id, v));
SELECT t.id FROM t LEFT ANTI JOIN b ON b.id = t.id SEMI JOIN c ON c.k = t.k;
SELECT b.id FROM b, c FULL JOIN z ON c.id = z.id WHERE EXISTS (SELECT 1 FROM t WHERE t.id = z.id);
SELECT c.id, row_number() OVER (ORDER BY z.id) AS n FROM b, c FULL JOIN z ON c.id = z.id;
SELECT b.id, count(z.id) AS n FROM b, c FULL JOIN z ON c.id = z.id GROUP BY b.id;
SELECT t.id FROM t JOIN b, c FULL JOIN z ON c.id = z.id;
SELECT a, count(*) AS n FROM t GROUP BY a, t.a, "a", (a), 1;
SELECT a + 1 AS b, count(*) AS n FROM t GROUP BY a + 1, t.a + 1;
SELECT t.a, count(*) AS n FROM t GROUP BY "a";
SELECT t.a, upper(k) AS k, count(*) AS n FROM t GROUP BY ALL;
SELECT "at" FROM (SELECT id AS "at" FROM t) q GROUP BY q."at", at;
SELECT * FROM b, c FULL JOIN z ON c.id = z.id;
SELECT id, TRY(CAST(k AS BIGINT)) AS c, TRY(coalesce(v / a, 1)) AS d, TRY(xs[4] + v) AS e, TRY(TRY(v * i) * i) AS f FROM t WHERE TRY(CAST(k AS DATE)) = day;
SELECT TRY(CAST(k AS DATE)) AS c, TRY(sum(a) / count(x)) AS d FROM t GROUP BY TRY(CAST(k AS DATE)) HAVING TRY(1 / count(x)) = 1;
SELECT id, sequence(day, day + INTERVAL '9' DAY, INTERVAL '3' DAY) AS c, sequence(DATE '2026-01-01', day) AS d, sequence(tz, tz + INTERVAL '1' HOUR, INTERVAL '20' MINUTE) AS e FROM t;
SELECT s.day, count(t.id) AS n FROM UNNEST(sequence(DATE '2026-01-01', DATE '2026-01-31')) AS s (day) LEFT JOIN t ON t.day = s.day GROUP BY s.day;
SELECT id, 100.0 * (s - lag(s) OVER (ORDER BY id)) / nullif(greatest(s, 1), 0) AS c FROM (SELECT id, sum(d) AS s FROM t GROUP BY id) q;
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.xs) AS u(x) WHERE u.x = 3);
SELECT id, l.n FROM t CROSS JOIN LATERAL (SELECT count(*) AS n FROM UNNEST(t.xs) AS u(x)) AS l;
SELECT id, (SELECT max(x) FROM UNNEST(xs) AS u (x) WHERE x > a) AS c FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(ys) AS u (y) WHERE y LIKE k);
SELECT id, concat(xs, ARRAY[1], xs) AS c, ys || k AS d, k || ys AS e, xs || i || v AS f, ARRAY[xs] || xs AS g FROM t;
--: UNKNOWN_COLUMN
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b JOIN c ON t.id = c.id;
--: AMBIGUOUS_COLUMN
SELECT t.id, b.v AS bv, c.v AS cv FROM t, b JOIN c ON id = 3;
--: NOT_YET
SELECT t.id, u.x FROM b, t, UNNEST(t.xs) AS u(x) FULL JOIN c ON c.id = u.x;

-- ORDER BY expressions
--: ok
SELECT t.id, -i AS i FROM t ORDER BY abs(i) LIMIT 2;
SELECT t.id, -i AS i FROM t ORDER BY abs(t.i) LIMIT 2;
SELECT t.id, -i AS i FROM t ORDER BY i + id, 1 LIMIT 2;
SELECT id, i FROM t UNION ALL SELECT id, v FROM b ORDER BY abs(i) LIMIT 2;
SELECT id, r.p AS r FROM t ORDER BY abs(r) LIMIT 2;
SELECT id, b.v AS v FROM t JOIN b USING (id) ORDER BY v + 1 LIMIT 2;
SELECT k, count(*) AS i FROM t GROUP BY k ORDER BY abs(i) LIMIT 2;
--: NOT_YET
SELECT t.id, row_number() OVER (ORDER BY id) AS i FROM t ORDER BY abs(i) LIMIT 2;
SELECT DISTINCT k, i FROM t ORDER BY abs(i) LIMIT 2;
SELECT DISTINCT k FROM t GROUP BY k, i ORDER BY sum(i) LIMIT 2;
--: AMBIGUOUS_COLUMN
SELECT t.id, b.v AS c FROM t JOIN b USING (id) ORDER BY -v LIMIT 2;

-- UNNEST
--: ok
SELECT id, u.p, u.q FROM t CROSS JOIN UNNEST(xs, ys) AS u(p, q);
SELECT id, u.p, u.q, u.r FROM t CROSS JOIN UNNEST(xs, ys, split(k, ',')) AS u(p, q, r);
SELECT id, u.p, u.q, e.k, e.v FROM t CROSS JOIN UNNEST(xs, ys) AS u(p, q) CROSS JOIN UNNEST(m) AS e(k, v);
SELECT e.k, e.v FROM t CROSS JOIN UNNEST(m) AS e(k, v);
SELECT e.k, e.v, t.id FROM t, UNNEST(m) AS e(k, v);
SELECT e.p, e.q, t.id FROM t CROSS JOIN UNNEST(rs) AS e(p, q);
SELECT e.p, e.q, t.id, e.x FROM t CROSS JOIN UNNEST(rs, xs) AS e(p, q, x);
SELECT e.p, e.x, c.v FROM t CROSS JOIN UNNEST(m) AS e(p, x) JOIN c ON c.id = e.x;
SELECT e.p, count(*) AS n FROM t CROSS JOIN UNNEST(rs) AS e(p, x) GROUP BY e.p;
SELECT u.x, t.id FROM UNNEST(split('a,b', ',')) AS u(x) JOIN t ON t.k = u.x;
SELECT u.x, t.id FROM UNNEST(split('a,b', ',')) AS u(x), t;
SELECT u.x, t.id FROM UNNEST(split('a,b', ',')) AS u(x) CROSS JOIN UNNEST(split('c,d', ',')) AS w(y) JOIN t ON t.k = u.x LEFT JOIN b ON b.id = t.id;
SELECT u.x, t.id FROM t FULL JOIN b ON t.id = b.id CROSS JOIN UNNEST(t.xs) AS u(x);
SELECT u.x, t.id FROM t CROSS JOIN UNNEST(t.xs) AS u(x) FULL JOIN b ON t.id = b.id;
--: NON_DETERMINISTIC
SELECT e.p, e.q, t.id, e.x FROM t CROSS JOIN UNNEST(m, xs) AS e(p, q, x);
--: AMBIGUOUS_COLUMN
SELECT e.p FROM t CROSS JOIN UNNEST(m) AS e(p, x) WHERE x > 3;
--: ok
SELECT id FROM t WHERE k IN (SELECT u.x FROM UNNEST(split('a,b', ',')) AS u(x));
SELECT q.x FROM (SELECT u.x FROM UNNEST(split('a,b', ',')) AS u(x)) q;
SELECT q.x, t.id FROM (SELECT u.x FROM UNNEST(split('a,b', ',')) AS u(x)) q JOIN t ON t.k = q.x;
SELECT u.x FROM UNNEST(split('a,b', ',')) AS u(x) UNION ALL SELECT k FROM t;
--: NOT_YET
SELECT id FROM t WHERE EXISTS (SELECT 1 FROM b CROSS JOIN UNNEST(t.xs) AS u(x) WHERE u.x = b.id);
--: UNKNOWN_TABLE, NOT_YET
SELECT id, l.n FROM t CROSS JOIN LATERAL (SELECT u.x AS n FROM UNNEST(t.xs) AS u(x)) AS l;
--: ok
SELECT u.x, t.id FROM UNNEST(split('a,b', ',')) AS u(x) LEFT JOIN t ON t.k = u.x;

-- Frames
--: ok
SELECT id, last_value(v) OVER (ORDER BY id RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 3 PRECEDING) AS l FROM t;
SELECT id, count(*) OVER (ORDER BY id ROWS BETWEEN 3 FOLLOWING AND 1 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 3 PRECEDING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id RANGE BETWEEN 3 FOLLOWING AND UNBOUNDED FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND 2.5 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 1 PRECEDING AND 2.5 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY a RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY day RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id RANGE BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS 2 PRECEDING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id RANGE 2 PRECEDING) AS l FROM t;
SELECT id, first_value(v) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, nth_value(v, 2) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, last_value(v) IGNORE NULLS OVER (PARTITION BY k ORDER BY id DESC RANGE BETWEEN CURRENT ROW AND 2 FOLLOWING) AS l FROM t;
SELECT id, first_value(v) OVER (ORDER BY id NULLS FIRST RANGE BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING) + 1 AS l FROM t;
SELECT id, count(*) FILTER (WHERE f) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 3 PRECEDING) AS l FROM t;
SELECT id, first_value(v) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '2' HOUR FOLLOWING AND INTERVAL '1' HOUR FOLLOWING) AS l FROM t;
SELECT id, nth_value(v, 2) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 5 PRECEDING) AS l FROM t;
SELECT id, min_by(v, a) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 5 PRECEDING) AS l FROM t;
SELECT id, avg(d) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 5 PRECEDING) AS l FROM t;
SELECT k, sum(count(*)) OVER (ORDER BY k ROWS BETWEEN 3 PRECEDING AND 5 PRECEDING) AS l FROM t GROUP BY k;
SELECT a, last_value(count(*)) OVER (ORDER BY a RANGE BETWEEN 3 PRECEDING AND 5 FOLLOWING) AS l FROM t GROUP BY a;
SELECT id, sum(v) OVER (ORDER BY x RANGE BETWEEN 1.555 PRECEDING AND 1e0 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY day RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 99999999999 PRECEDING AND CURRENT ROW) AS l FROM t;
--: TYPE_CLASH
SELECT id, sum(v) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY a RANGE BETWEEN 3000000000 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY d RANGE BETWEEN 1.555 PRECEDING AND 99999999 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY day RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW) AS l FROM t;
--: WRONG_ARGUMENTS
SELECT id, (SELECT max(r.p) FROM UNNEST(rs) AS u (r)) AS c FROM t;
SELECT id, sum(v) OVER (ORDER BY id, a RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN 1.5 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED FOLLOWING AND 1 PRECEDING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY id ROWS BETWEEN -1 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, lag(v) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, rank() OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
SELECT id, row_number() OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
--: NON_DETERMINISTIC
SELECT id, sum(v) OVER (RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) AS l FROM t;
--: NOT_YET
SELECT id, nth_value(v, 2) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND 3 FOLLOWING) AS l FROM t;
SELECT id, sum(v) OVER (ORDER BY tz RANGE BETWEEN INTERVAL '1' MONTH PRECEDING AND INTERVAL '5' MINUTE FOLLOWING) AS l FROM t;

-- Maps, arrays and rows
--: ok
SELECT id FROM t WHERE m = n;
SELECT id FROM t WHERE m <> n;
SELECT id FROM t WHERE xs = xs;
SELECT id FROM t WHERE r = r;
SELECT t.id FROM t JOIN t AS s ON t.m = s.m;
SELECT CASE WHEN m = n THEN 1 ELSE 2 END AS e FROM t;
SELECT t.m, b.v FROM t LEFT JOIN b ON t.id = b.id;
--: NOT_YET
SELECT id FROM t WHERE xs < xs;
SELECT id FROM t WHERE r < r;
--: TYPE_CLASH
SELECT id FROM t WHERE m < n;
SELECT id FROM t WHERE m IN (n);
SELECT id, m IS NOT DISTINCT FROM n AS e FROM t;
SELECT DISTINCT m FROM t;
SELECT m, count(*) AS n FROM t GROUP BY m;
SELECT count(DISTINCT m) AS n FROM t;
SELECT CASE m WHEN n THEN 1 END AS e FROM t;
SELECT m FROM t UNION SELECT n FROM t;
SELECT m FROM t EXCEPT SELECT n FROM t;
SELECT id FROM t WHERE m BETWEEN n AND n;
SELECT id FROM t WHERE m = NULL;

-- ANY, ALL and lists of rows
--: ok
SELECT id FROM t WHERE a > ANY (VALUES (1), (2));
SELECT id FROM t WHERE a > ANY (VALUES 1, 2);
SELECT id FROM t WHERE NOT a >= ALL (VALUES 1, 2);
SELECT id FROM t WHERE a = ANY (SELECT id FROM b);
SELECT id FROM t WHERE a <> ALL (SELECT id FROM b);
SELECT id FROM t WHERE a = SOME (SELECT id FROM b);
SELECT id FROM t WHERE a IN (VALUES 1, 2);
SELECT id FROM t WHERE a IN (VALUES (1), (2)) AND k IN (VALUES 'a', NULL);
SELECT id, a > ANY (VALUES 1, NULL) AS w, count(*) AS n FROM t GROUP BY id, a;
SELECT id FROM t WHERE 1 < ANY (VALUES a, i);
SELECT id FROM t WHERE a > ANY (SELECT id FROM b);
SELECT id FROM t WHERE a > ALL (SELECT id FROM b WHERE b.k = t.k);
SELECT id FROM t WHERE a = ANY (xs);
--: WRONG_ARGUMENTS
SELECT id FROM t WHERE a IN (VALUES (1, 2));

-- Columns without names, and names twice
--: ok
SELECT id, a + 1, count(*) FROM t GROUP BY id, a;
SELECT * FROM (SELECT id, a + 1 FROM t) AS q JOIN b ON q.id = b.id;
SELECT q._col1 + 1 AS c FROM (SELECT id, a + 1 FROM t UNION ALL SELECT v, id FROM b) AS q;
SELECT t.id, q._col0 FROM t, LATERAL (SELECT max(v) FROM b WHERE b.id = t.id) AS q;

-- Arrays, elements, lambdas, tuples and zones
--: ok
SELECT id, xs[1] AS x, xs[a] AS y, m['k'] AS z, rs[1].q AS q, element_at(xs, a) AS e FROM t;
SELECT id, u.x, u.n FROM t CROSS JOIN UNNEST(xs) WITH ORDINALITY AS u(x, n);
SELECT id, u.x, u.s, u.n FROM t LEFT JOIN UNNEST(xs, ys) WITH ORDINALITY AS u(x, s, n) ON true;
SELECT t.id, u.p, b.v FROM t LEFT JOIN UNNEST(rs) AS u ON true LEFT JOIN b ON b.id = u.p;
SELECT id, u.k1, u.v1 FROM t LEFT JOIN UNNEST(m) AS u(k1, v1) ON true;
SELECT id, u.x FROM t CROSS JOIN UNNEST(ARRAY[a, i, NULL]) AS u(x);
SELECT id, u FROM t CROSS JOIN UNNEST(xs) AS u;
SELECT id, CAST(ARRAY[] AS ARRAY(BIGINT)) AS e, ARRAY[d, 1] AS f, ARRAY[xs, ARRAY[1]] AS g FROM t;
SELECT id, transform(xs, x -> x + a) AS w, filter(ys, x -> x LIKE k) AS y, transform(rs, x -> x.q) AS z FROM t;
SELECT id, zip_with(xs, ys, (x, y) -> concat(y, k)) AS w, reduce(xs, 0e0, (x, y) -> x + y, x -> x) AS y FROM t;
SELECT id FROM t WHERE any_match(xs, x -> x = a) OR all_match(ys, y -> y IS NULL) OR none_match(rs, w -> w.p > 1);
SELECT k, max(cardinality(filter(xs, x -> x > 10 / v))) AS n FROM t GROUP BY k;
SELECT id FROM t WHERE (a, k) IN ((1, 'a'), (2, 'b')) AND (id, v) <> (1, 2);
SELECT id FROM t WHERE (id, k) IN (SELECT id, k FROM b WHERE v > 3);
SELECT id FROM t WHERE k IS NOT NULL AND (id, k) NOT IN (SELECT id, k FROM b WHERE k IS NOT NULL);
SELECT a, k, count(*) AS n FROM t GROUP BY (a, k);
SELECT id, CAST(tz AT TIME ZONE 'Europe/Berlin' AS DATE) AS d2, hour(at_timezone(ts, 'Asia/Kolkata')) AS h FROM t;
SELECT date_trunc('minute', tz AT TIME ZONE 'Asia/Kolkata') AS mi, date_trunc('hour', tz AT TIME ZONE 'Asia/Kolkata') AS h FROM t;
SELECT date_trunc('day', tz AT TIME ZONE 'Europe/Berlin') AS d1, date_trunc('week', tz AT TIME ZONE 'Europe/Berlin') AS w FROM t;
SELECT date_trunc('month', tz AT TIME ZONE 'Europe/Berlin') AS mo, date_trunc('quarter', tz AT TIME ZONE 'Europe/Berlin') AS q FROM t;
SELECT date_trunc('year', tz AT TIME ZONE 'Europe/Berlin') AS y2, count(*) FROM t GROUP BY 1;
SELECT id, map_keys(m) AS w, map_values(m) AS y, map(ys, xs) AS z, bit_count(i, 64) AS n FROM t;
SELECT id, array_union(xs, ARRAY[1]) AS u, array_except(xs, xs) AS e, array_intersect(ys, ys) AS w, trim_array(xs, 1) AS z, flatten(ARRAY[xs]) AS f FROM t;
--: NOT_YET
SELECT id, reduce(xs, BIGINT '0', (x, y) -> x + y, x -> x) AS y FROM t;
SELECT id FROM t WHERE any_match(xs, x -> 10 / x > 1);
SELECT hour(w) AS h FROM (SELECT tz AT TIME ZONE 'Europe/Berlin' AS w FROM t) AS q;
SELECT coalesce(tz AT TIME ZONE 'Europe/Berlin', tz) AS h FROM t;
SELECT id FROM t LEFT JOIN UNNEST(xs) AS u(x) ON u.x > 1;
--: WRONG_ARGUMENTS
SELECT transform(xs, (x, y) -> x) AS w FROM t;
SELECT tz AT TIME ZONE 'Middle/Earth' AS w FROM t;
SELECT xs[0] AS x FROM t;
--: TYPE_CLASH
SELECT reduce(xs, 0, (x, y) -> x + y, x -> x) AS y FROM t;
SELECT ARRAY[k, id] AS x FROM t;

--: TYPE_CLASH, UNSUPPORTED_SYNTAX
SELECT id FROM t WHERE (id, k) = (1, 'a', 2);
SELECT id FROM t WHERE (id, k) NOT IN (SELECT id FROM b);

-- First rows and columns that two sides share
--: ok
SELECT DISTINCT ON (k) k, a FROM t ORDER BY k, id;
SELECT DISTINCT ON (k) k, count(*) AS n FROM t GROUP BY k, a ORDER BY k, n LIMIT 3;
SELECT k, a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES;
SELECT k, count(*) FROM t GROUP BY k ORDER BY 2 DESC OFFSET 2 ROWS FETCH NEXT ROW WITH TIES;
SELECT DISTINCT k FROM t ORDER BY k OFFSET 2;
SELECT id FROM b EXCEPT SELECT id FROM c ORDER BY id OFFSET 1;
SELECT id, b.v FROM b FULL JOIN c USING (id) WHERE id > 3;
SELECT * FROM b NATURAL LEFT JOIN c;
SELECT id, y.ts FROM z FULL JOIN y USING (id, k) FULL JOIN b USING (id);
SELECT id, count(*) AS n FROM b RIGHT JOIN (SELECT a AS id FROM t) AS q USING (id) GROUP BY id;

-- Event times without a zone
--: ok
SELECT window_start, count(*) AS n FROM TUMBLE(z, ts, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;
SELECT DISTINCT k, ts FROM z;
SELECT z.id, y.v FROM z JOIN y ON y.ts BETWEEN z.ts AND z.ts + INTERVAL '1' HOUR;
SELECT z.id, y.v FROM z JOIN y ON z.id = y.id AND y.ts BETWEEN z.ts AND z.ts + INTERVAL '1' HOUR;
SELECT z.id, y.v FROM z LEFT JOIN y ON y.ts BETWEEN z.ts AND z.ts + INTERVAL '1' HOUR EMIT ON WINDOW CLOSE;

-- Others
--: ok
SELECT id FROM t WHERE a IN (VALUES (1), (2));
TABLE t;
SELECT k, r.p, element_at(xs, 1) AS y, CAST(v AS VARCHAR) AS c, TRY_CAST(k AS BIGINT) AS w FROM t;
SELECT id FROM t WHERE k LIKE 'a%' ESCAPE '!' AND NOT f AND id BETWEEN 1 AND 3 AND x IS NOT NULL;
SELECT id, CASE k WHEN 'a' THEN 1 ELSE 2 END AS c, if(f, 1, 2) AS i, k || 'x' AS l, a % 2 AS md, -a AS ng FROM t;
SELECT k, count(*) FILTER (WHERE f) AS n FROM t GROUP BY k HAVING count(*) > 1;
SELECT k, ts - INTERVAL '1' DAY AS b FROM t WHERE ts > TIMESTAMP '2026-01-01 00:00:00';
SELECT id FROM t WHERE k IS DISTINCT FROM 'a' AND k IS NOT DISTINCT FROM 'b';
SELECT id FROM t ORDER BY id DESC NULLS FIRST OFFSET 2 LIMIT 3;
SELECT json_extract_scalar(k, '$.a[0].b') AS j FROM t;
--: TYPE_CLASH
SELECT max(m) AS n FROM t;
SELECT nullif(m, n) AS e FROM t;
SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM t QUALIFY n <= 3;
--: ok
SELECT u.x, t.id FROM UNNEST(ARRAY[1,2]) AS u(x) JOIN t ON t.id = u.x;
SELECT u.x, t.id FROM UNNEST(ARRAY[1,2]) AS u(x), t;
SELECT e.k, e.v, t.id FROM t LEFT JOIN UNNEST(m) AS e(k, v) ON true;
SELECT e.v, t.id FROM t LEFT JOIN UNNEST(xs) AS e(v) ON true;
SELECT t.id FROM t JOIN (VALUES (1, 'a')) AS w(p, q) ON t.id = w.p;
SELECT t.id, w.q FROM t LEFT JOIN (VALUES (1, 'a'), (NULL, 'b')) AS w(p, q) ON t.id = w.p AND w.q <> t.k;
SELECT t.id, q FROM (VALUES (1, 'a'), (2, NULL)) AS w(p, q) JOIN t ON t.id = w.p;
SELECT t.id, w._col0 FROM t, (VALUES 1, 2) AS w;
SELECT id, q, b.v FROM t LEFT JOIN (VALUES (1, 'a')) AS w(id, q) USING (id) JOIN b USING (id);
WITH w (p, q) AS (VALUES (1, 'a'), (2, 'b')) SELECT t.id, w.q FROM t JOIN w ON t.id = w.p JOIN w AS x ON x.q = w.q;
--: ok
SELECT u.x FROM UNNEST(ARRAY[1,2]) AS u(x);
SELECT w.p FROM (VALUES (1, 'a')) AS w(p, q);
--: AMBIGUOUS_COLUMN
SELECT t.id FROM t JOIN (VALUES (1, 'a')) AS w(id, q) ON id = 1;
--: WRONG_ARGUMENTS
SELECT t.id FROM t JOIN (VALUES (1, 'a'), (2)) AS w(p, q) ON t.id = w.p;
--: ok
VALUES (1, 2);
SELECT 1 AS x;
--: ok
SELECT t.id FROM t JOIN LATERAL (VALUES (t.id)) AS w(p) ON true;

-- More
--: ok
SELECT id, sum(v) OVER w AS s, last_value(v) OVER (w RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS l FROM t WINDOW w AS (ORDER BY id);
SELECT id, sum(v) OVER w AS s FROM t WINDOW w AS (ORDER BY id RANGE BETWEEN 3 PRECEDING AND 1 PRECEDING);
SELECT k, a AS kk, count(*) AS n FROM t GROUP BY 1, kk, t.k;
SELECT upper(k) AS k, count(*) AS n FROM t GROUP BY k;
SELECT upper(k) AS u, count(*) AS n FROM t GROUP BY upper(k), upper(t.k), 1;
SELECT r.p AS p, count(*) AS n FROM t GROUP BY r.p, t.r.p;
SELECT k, count(*) AS n FROM t GROUP BY GROUPING SETS ((k), (t.k));
SELECT k, a, count(*) AS n FROM t GROUP BY ROLLUP (k, a);
SELECT k, a, count(*) AS n FROM t GROUP BY ROLLUP (t.k, t.a);
SELECT id FROM t WHERE ARRAY_CONTAINS(xs, 3);
SELECT DISTINCT r FROM t;
SELECT DISTINCT xs FROM t;
SELECT r, count(*) AS n FROM t GROUP BY r;
SELECT xs, count(*) AS n FROM t GROUP BY xs;
SELECT t.id FROM t JOIN t AS s ON t.r = s.r;
SELECT t.id FROM t LEFT JOIN t AS s ON t.xs = s.xs;
SELECT xs FROM t EXCEPT SELECT xs FROM t;
SELECT count(DISTINCT xs) AS n FROM t;
SELECT count(DISTINCT r) AS n FROM t;
SELECT id, row_number() OVER (PARTITION BY xs ORDER BY id) AS n FROM t;
SELECT id, row_number() OVER (PARTITION BY r ORDER BY id) AS n FROM t;
SELECT id FROM t WHERE xs IN (SELECT xs FROM t);
SELECT id FROM t WHERE r = ANY (VALUES r);
SELECT window_start, count(*) AS n FROM TUMBLE(z, ts, INTERVAL '500' MILLISECOND) GROUP BY window_start EMIT ON WINDOW CLOSE;
SELECT window_start, max(ts) AS m FROM HOP(z, ts, INTERVAL '30' MINUTE, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;
SELECT window_start, array_agg(ts) AS m FROM TUMBLE(z, ts, INTERVAL '1' HOUR) GROUP BY window_start EMIT ON WINDOW CLOSE;
SELECT DISTINCT k, ts, v FROM z WHERE v > 3;
SELECT date_trunc('hour', ts) AS h, count(*) AS n FROM z GROUP BY 1 EMIT ON WINDOW CLOSE;
SELECT z.id FROM z JOIN y ON z.ts = y.ts;
SELECT z.id FROM z, y WHERE z.ts = y.ts AND z.k = y.k;
SELECT z.id, y.v FROM z LEFT JOIN y ON z.ts = y.ts EMIT ON WINDOW CLOSE;
SELECT u.p, count(*) AS n FROM t CROSS JOIN UNNEST(xs, rs) AS u(x, p, q) GROUP BY u.p;
SELECT t.id, u.x, w.y FROM t LEFT JOIN b ON t.id = b.id CROSS JOIN UNNEST(t.xs, t.ys) AS u(x, s), UNNEST(split(u.s, 'a')) AS w(y);
SELECT id, v FROM b ORDER BY (v), -id LIMIT 3;
SELECT id, v AS id2 FROM b ORDER BY CASE WHEN id2 > 3 THEN id END, 1 LIMIT 3;
SELECT id AS v, v AS id FROM b ORDER BY v + 0, id LIMIT 3;
SELECT id, 'x' AS lit FROM b ORDER BY lit || 'a' LIMIT 1;
SELECT t.id, s.one FROM t LEFT JOIN (SELECT id, 1 AS one FROM b) s ON s.id = t.id;
SELECT t.id, s.one FROM t FULL JOIN (SELECT id, 'a' AS one, true AS f FROM b) s ON s.id = t.id AND s.f;
SELECT t.id, s.one FROM t LEFT JOIN (SELECT id, coalesce(v, 0) AS one FROM b WHERE v > 3) s ON s.id = t.id;
--: ok
SELECT b.id, c.v FROM t JOIN (b JOIN c ON b.id = c.id) ON t.id = b.id;
SELECT b.id, c.v FROM t, (b JOIN c ON b.id = c.id);
SELECT b.id, c.v FROM t LEFT JOIN (b JOIN c ON b.id = c.id) ON t.id = b.id;
SELECT b.id, c.v FROM t LEFT JOIN b JOIN c ON b.id = c.id ON t.id = b.id;
SELECT b.id, c.v FROM ((t JOIN b ON t.id = b.id) FULL JOIN (c NATURAL JOIN b d) ON c.id = b.id);
SELECT x.v, y.p FROM c AS x (i, k, v) RIGHT JOIN ((VALUES (1, 2)) AS y (p, q)) ON x.i = y.q;
SELECT u.r FROM t CROSS JOIN UNNEST(rs) WITH ORDINALITY AS u(p, q, r);
--: TYPE_CLASH
SELECT id FROM t WHERE r IN (SELECT r FROM t);
--: UNKNOWN_TABLE
SELECT TUMBLE.ts FROM TUMBLE(z, ts, INTERVAL '500' MILLISECOND);
--: UNSUPPORTED_CAST
SELECT z.ts AS a, y.ts AS b, CAST(z.ts AS VARCHAR) AS c FROM z JOIN y ON z.k = y.k AND y.ts >= z.ts AND y.ts <= z.ts + INTERVAL '1' HOUR WHERE hour(z.ts) = 3;
--: ok
SELECT z.id, y.v FROM z LEFT JOIN y ON z.v + y.v = 3 AND y.ts BETWEEN z.ts AND z.ts + INTERVAL '1' HOUR EMIT ON WINDOW CLOSE;
-- Casts to rows
--: ok
SELECT CAST(r AS ROW(p BIGINT, q VARCHAR)) AS w FROM t;
-- As-of joins
--: ok
SELECT z.id, y.v FROM z JOIN y FOR SYSTEM_TIME AS OF z.ts AS y ON y.k = z.k;
SELECT z.id, y.v FROM z LEFT JOIN y FOR SYSTEM_TIME AS OF z.ts AS y ON y.k = z.k AND y.id = z.id EMIT ON WINDOW CLOSE;
SELECT z.id, y.v, y.ts FROM z ASOF JOIN y MATCH_CONDITION (z.ts > y.ts) ON y.k = z.k EMIT ON WINDOW CLOSE;
SELECT z.id, y.v, x.v AS w FROM z ASOF JOIN y ON z.k = y.k AND z.ts >= y.ts ASOF LEFT JOIN y x ON z.id = x.id AND x.ts < z.ts EMIT ON WINDOW CLOSE;
SELECT a.id, b.id AS before FROM z a ASOF JOIN z b MATCH_CONDITION (a.ts > b.ts) ON a.k = b.k EMIT ON WINDOW CLOSE;
SELECT t.id, t.m, t.r, t.rs, t.xs, t.d, t.day, t.f, y.v FROM t ASOF LEFT JOIN y ON t.k = y.k AND t.ts >= y.ts WHERE t.f AND y.v > 3;
SELECT y.id, s.d, s.day, s.f, s.x FROM y ASOF JOIN (SELECT k, d, day, f, x, ts FROM t WHERE v > 0) s MATCH_CONDITION (y.ts >= s.ts) ON y.k = s.k;
SELECT window_end, count(*) AS n, max(y.v) AS m FROM TUMBLE(z, ts, INTERVAL '1' HOUR) z ASOF JOIN y ON z.k = y.k AND z.ts >= y.ts GROUP BY window_end EMIT ON WINDOW CLOSE;
SELECT z.k, sum(z.v * y.v) AS s FROM z ASOF LEFT JOIN y ON z.k = y.k AND z.ts >= y.ts WHERE EXISTS (SELECT 1 FROM b WHERE b.k = z.k AND b.v = y.v) GROUP BY z.k HAVING count(*) > 1;
SELECT z.id, y.v, row_number() OVER (PARTITION BY z.k ORDER BY y.v, z.id) AS n FROM z ASOF JOIN y ON upper(z.k) = upper(y.k) AND z.ts - INTERVAL '1' HOUR >= y.ts;
SELECT z.id, y.v, c.v AS w FROM b JOIN z ON b.id = z.id ASOF JOIN y ON z.k = y.k AND z.ts >= y.ts LEFT JOIN c ON c.id = y.id AND c.v = z.v;
SELECT z.id, y.v, u.x FROM z ASOF JOIN y ON z.k = y.k AND z.ts >= y.ts CROSS JOIN UNNEST(split(z.k || y.k, ',')) AS u(x);
SELECT DISTINCT z.k, y.v FROM z ASOF JOIN y ON z.k = y.k AND z.ts >= y.ts UNION ALL SELECT k, v FROM b;
SELECT z.id, s.n FROM z ASOF JOIN (SELECT k, window_end, count(*) AS n FROM TUMBLE(y, ts, INTERVAL '1' HOUR) GROUP BY k, window_end) s MATCH_CONDITION (z.ts >= s.window_end) ON z.k = s.k EMIT ON WINDOW CLOSE;
-- Names
--: ok
SELECT a.id, b.id, a.k AS "a.k", b.v AS _30_days FROM t a JOIN b ON a.id = b.id;
SELECT t.id, u._col18, u._col19 FROM t CROSS JOIN UNNEST(xs, ys) AS u;
SELECT k, array_agg(r ORDER BY v) AS rows, array_agg((id, k)) AS pairs, array_agg(ROW(id, r) ORDER BY id) AS q FROM t GROUP BY k;
SELECT ROW(t.id, t.k) AS q, t.k FROM t JOIN (b JOIN c ON b.id = c.id) ON t.id = b.id WHERE (t.id, t.k) IS DISTINCT FROM (1, 'a');
SELECT t.id, o.x FROM t, (SELECT 1 AS x) AS o WHERE t.v > (SELECT 3);
-- WITH RECURSIVE
--: ok
WITH RECURSIVE r (x, y) AS (SELECT id, v FROM b UNION SELECT r.x, c.v FROM r JOIN c ON c.id = r.y) SELECT x, y FROM r;
WITH RECURSIVE r AS (SELECT id, v, 0 AS depth, CAST(k AS VARCHAR) AS path FROM b WHERE v IS NULL UNION ALL SELECT c.id, c.v, r.depth + 1, r.path || '/' || c.k FROM r JOIN c ON c.v = r.id WHERE r.depth < 9) SELECT id, depth, path FROM r;
WITH RECURSIVE r (id, n) AS (SELECT 1, 1.5 UNION ALL SELECT c.id, CAST(r.n * c.v AS DECIMAL(2, 1)) FROM c, r WHERE c.v = r.id) SELECT id, sum(n) AS n FROM r GROUP BY id;
WITH RECURSIVE r AS (SELECT id, v FROM b UNION ALL SELECT c.id, r.v FROM r LEFT JOIN c ON c.v = r.id), s AS (SELECT id FROM r WHERE v > 1) SELECT p.id, q.v FROM s p JOIN r AS q (id, v) ON p.id = q.v;
WITH RECURSIVE r AS (SELECT id, xs FROM t UNION ALL SELECT u.x, r.xs FROM r CROSS JOIN UNNEST(r.xs) AS u(x) JOIN c ON c.id = u.x) SELECT id, cardinality(xs) AS n FROM r;
WITH RECURSIVE r AS (SELECT id FROM b EXCEPT SELECT v FROM b UNION SELECT c.v FROM r JOIN c USING (id) WHERE EXISTS (SELECT 1 FROM t WHERE t.v = c.v)), s AS (SELECT id FROM r UNION SELECT c.v FROM s JOIN c ON c.id = s.id) SELECT id, 10 / id AS n FROM s;
WITH RECURSIVE r AS (SELECT id, x, d, f, day, ts, tz, r FROM t UNION SELECT c.id, t.x, t.d, t.f, t.day, t.ts, t.tz, t.r FROM r JOIN c ON c.id = r.id JOIN t ON t.id = c.id) SELECT * FROM r;
SELECT s.id FROM (WITH RECURSIVE r AS (SELECT NULL AS id, v FROM b UNION SELECT c.id, c.v FROM r JOIN c ON c.id = r.v) SELECT * FROM r) s JOIN t ON t.id = s.id;
WITH MUTUALLY RECURSIVE r (x BIGINT) AS (SELECT id FROM b UNION SELECT c.v FROM r JOIN c ON c.id = r.x) SELECT x FROM r;
--: INVALID_RECURSION
WITH RECURSIVE r AS (SELECT id, v FROM b UNION ALL SELECT c.id, max(r.v) FROM r JOIN c ON c.v = r.id GROUP BY c.id) SELECT * FROM r;

-- Constant rows
--: ok
SELECT id, k FROM t UNION ALL SELECT NULL, 'b';
SELECT id, k FROM t UNION SELECT 1, 'b' EXCEPT SELECT 2, 'c';
SELECT 1 AS id, 'b' AS k EXCEPT SELECT id, k FROM t;
SELECT id, k FROM t WHERE id NOT IN (SELECT 1 UNION SELECT v FROM b) AND EXISTS (SELECT 1 AS x WHERE 1 = 2);
SELECT count(*) AS n;
SELECT 1 AS x GROUP BY 1 HAVING count(*) > 0;
SELECT x, count(*) AS n, sum(x) OVER (ORDER BY x) AS s FROM (SELECT 1 AS x UNION ALL SELECT 2) AS w(x) GROUP BY x ORDER BY x LIMIT 1;
SELECT a.x, b.y, 10 / (b.y - 2) AS z FROM (SELECT 1 AS x) a LEFT JOIN (SELECT 2 AS y) b ON a.x = b.y;
SELECT a.x, t.id, b.v FROM (SELECT 1 AS x) a LEFT JOIN t ON a.x = t.id FULL JOIN b ON b.id = t.id;
SELECT (SELECT max(v) FROM t) AS m, (SELECT k FROM b WHERE id = 1) AS o;
SELECT u.x, count(t.id) AS n FROM UNNEST(sequence(1, 10)) AS u(x) LEFT JOIN t ON t.v = u.x GROUP BY u.x;
SELECT window_start, count(*) AS n FROM TUMBLE(z, ts, INTERVAL '1' MINUTE) GROUP BY window_start UNION ALL SELECT TIMESTAMP '2024-01-01 00:00:00', 0;
WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n FROM r;
--: NO_INPUT
SELECT *;
--: UNKNOWN_COLUMN
SELECT x;
--: NOT_YET
SELECT id FROM z WHERE ts > watermark() - INTERVAL '1' HOUR UNION ALL SELECT 1;
SELECT id FROM t UNION ALL SELECT 1 EMIT ON WINDOW CLOSE;
