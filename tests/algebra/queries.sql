-- Queries that were refused once, over the inputs of the fuzz: one SELECT a line, below its outcome.

-- Columns of one name, which nothing reads by that name
--: ok
WITH t (a, b) AS (SELECT id, id FROM a) SELECT a, b FROM t;
WITH t (a, b) AS (SELECT id, id FROM a UNION ALL SELECT id, x FROM b) SELECT a, b FROM t;
WITH t AS (SELECT id, id FROM a), u (p, q) AS (SELECT * FROM t) SELECT p, q FROM u;
WITH t AS (SELECT id, id FROM a) SELECT p, q FROM t AS u (p, q);
SELECT t.a, t.b FROM (SELECT id, id FROM a) AS t (a, b);
SELECT t.a, t.c FROM (SELECT id, id, x AS id FROM a) AS t (a, b, c);
SELECT t.a, t.b FROM (SELECT id, id FROM a GROUP BY 1, 2) AS t (a, b);
SELECT t.a, t.b FROM (SELECT DISTINCT id, id FROM a) AS t (a, b);
SELECT t.a, t.b FROM (SELECT k, k FROM a GROUP BY ROLLUP (k)) AS t (a, b);
SELECT t.p, t.q FROM (SELECT id, x AS id FROM a ORDER BY 2, 1 LIMIT 3) AS t (p, q);
SELECT t.p, t.q FROM (SELECT id AS x, x AS id FROM a ORDER BY x LIMIT 3) AS t (p, q);
SELECT t.p, t.q FROM (SELECT id, id FROM a ORDER BY id + 1 LIMIT 3) AS t (p, q);
SELECT a, sum(b) AS s FROM (SELECT id, id FROM a) AS t (a, b) GROUP BY a;
SELECT count(*) AS n FROM (SELECT id, id FROM a);
SELECT count(*) AS n FROM (SELECT * FROM (SELECT id, id, x FROM a) q) t;
SELECT count(*) AS n FROM (SELECT id, id FROM a UNION SELECT x, x FROM b) AS t;
SELECT t.x FROM (SELECT id, id, x FROM a) AS t;
SELECT t.k FROM (SELECT id, id, k FROM a UNION SELECT x, x, k FROM b) AS t;
SELECT t.a FROM (SELECT id, id, k FROM a EXCEPT SELECT x, id, k FROM b) AS t (a, b, c);
SELECT n FROM (SELECT x, x, count(*) AS n FROM a GROUP BY x HAVING count(*) > 1) t;
SELECT a.id FROM a JOIN (SELECT id, id, x FROM b) q USING (x);
SELECT a.x FROM a NATURAL JOIN (SELECT x, f AS g, f AS g FROM b) q;
SELECT x.a, y.b FROM (SELECT id, id FROM a) x (a, b) FULL JOIN (SELECT id, id FROM b) y (a, b) ON x.a = y.a;
SELECT t.a, t.b FROM b JOIN LATERAL (SELECT id, id FROM a WHERE a.x = b.x) AS t (a, b) ON true;
SELECT l.p, l.r FROM a CROSS JOIN LATERAL (SELECT a.x, a.x, a.id) l (p, q, r);
SELECT l.p, l.q FROM a CROSS JOIN LATERAL (SELECT b.x, b.x FROM b WHERE b.k < a.k ORDER BY x LIMIT 2) l (p, q);
SELECT id FROM a WHERE (SELECT max(q.b) FROM (SELECT id, id FROM b) q (a, b)) > id;
SELECT id FROM a WHERE x IN (SELECT t.id FROM (SELECT id AS i, id AS i, id FROM b) t);
SELECT t.p FROM (SELECT x, x, row_number() OVER (PARTITION BY x ORDER BY id) AS n FROM a QUALIFY n < 2) AS t (p, q, n);
SELECT u.w FROM a CROSS JOIN UNNEST(ARRAY[1, 2], ARRAY[3, 4], ARRAY[3, 4]) AS u (v, v, w);

-- Columns of one name, which something reads
--: DUPLICATE_COLUMN
SELECT id, id FROM a;
SELECT * FROM (SELECT id, id, x FROM a) AS t;
--: AMBIGUOUS_COLUMN
SELECT t.id FROM (SELECT id, id, x FROM a) AS t;
SELECT id FROM (SELECT id, id, x FROM a) AS t;
SELECT count(*) AS n FROM (SELECT id, id, x FROM a) AS t WHERE id > 1;
SELECT x, count(*) AS n FROM (SELECT id, id, x FROM a) AS t GROUP BY x, id;
SELECT x FROM (SELECT id, id, x FROM a) AS t ORDER BY t.id LIMIT 1;
SELECT * EXCEPT (id) FROM (SELECT id, id, x FROM a) AS t;
SELECT a FROM (SELECT id, x FROM a) AS t (a, a);
SELECT u.v FROM a CROSS JOIN UNNEST(ARRAY[1, 2], ARRAY[3, 4]) AS u (v, v);
SELECT l.x FROM a CROSS JOIN LATERAL (SELECT a.x, a.x, a.id AS r) l;
SELECT a.id FROM a JOIN (SELECT id, id, x FROM b) q USING (id);
SELECT a.x FROM a NATURAL JOIN (SELECT x, id, id FROM b) q;
SELECT a.id FROM a JOIN (SELECT id, id, x FROM b) q ON q.id = a.id;
SELECT t.p FROM (SELECT id, x AS id FROM a ORDER BY id LIMIT 3) AS t (p, q);
SELECT t.p FROM (SELECT x + 1 AS z, count(*) AS z FROM a GROUP BY z) AS t (p, q);
--: UNKNOWN_COLUMN
SELECT _again2_id FROM (SELECT id, id FROM a) q;

-- Subqueries in ON, in GROUP BY and within aggregates
--: ok
SELECT a.id, b.id AS j FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.k = a.k);
SELECT a.id, b.id AS j FROM a JOIN b ON EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.k = a.k);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND b.x NOT IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND b.x > (SELECT max(x) - 2 FROM c);
SELECT a.id, b.id AS j FROM a FULL JOIN b ON a.k = b.k AND b.x > (SELECT max(x) - 2 FROM c);
SELECT a.id, b.id AS j FROM a FULL JOIN b ON a.k = b.k AND NOT EXISTS (SELECT 1 FROM c WHERE c.x = a.x);
SELECT a.id, b.id AS j FROM a RIGHT JOIN b ON a.k = b.k AND a.x = (SELECT max(c.x) FROM c WHERE c.k = a.k);
SELECT a.id, b.id AS j, u.id AS l FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN u ON u.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.x = a.x);
SELECT a.id, b.id AS j, u.id AS l FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c) RIGHT JOIN u ON u.k = a.k;
SELECT a.id, b.id AS j, u.id AS l FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c) LEFT JOIN u ON u.k = a.k;
SELECT * FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x);
SELECT count(*) AS n FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x);
SELECT a.k, count(b.id) AS n FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x) GROUP BY a.k;
SELECT x IN (SELECT x FROM c) AS f, count(*) AS n FROM a GROUP BY x IN (SELECT x FROM c);
SELECT x IN (SELECT x FROM c) AS f, count(*) AS n FROM a GROUP BY 1;
SELECT x IN (SELECT x FROM c) AS g, count(*) AS n FROM a GROUP BY g;
SELECT (SELECT max(c.x) FROM c WHERE c.k = a.k) AS m, count(*) AS n, sum(x) AS s FROM a GROUP BY 1;
SELECT count(*) AS n FROM a GROUP BY (SELECT max(c.x) FROM c WHERE c.k = a.k);
SELECT a.k, (SELECT max(c.x) FROM c WHERE c.k = a.k) AS m, count(*) AS n FROM a GROUP BY ALL;
SELECT k, sum((SELECT max(c.x) FROM c WHERE c.k = a.k)) AS s FROM a GROUP BY k;
SELECT k, count(*) FILTER (WHERE x IN (SELECT x FROM c)) AS s FROM a GROUP BY k;
SELECT k, count(*) FILTER (WHERE EXISTS (SELECT 1 FROM c WHERE c.x > a.x)) AS s FROM a WHERE id > 2 GROUP BY k;
SELECT sum(x + (SELECT max(x) FROM c)) AS s FROM a;
SELECT sum(CASE WHEN x NOT IN (SELECT x FROM c) THEN 1 ELSE 0 END) AS s, max(x) AS m FROM a WHERE x IN (SELECT x FROM b);
SELECT count(DISTINCT (SELECT min(c.id) FROM c WHERE c.x = a.x)) AS s FROM a;
SELECT a.k, b.x AS y, sum((SELECT max(c.x) FROM c WHERE c.k = a.k AND c.x = b.x)) AS s FROM a JOIN b ON a.x = b.x GROUP BY a.k, b.x;
SELECT a.k, b.k, sum((SELECT max(c.x) FROM c WHERE c.k = a.k)) AS s FROM a JOIN b ON a.x = b.x WHERE a.id > 1 GROUP BY a.k, b.k HAVING count(*) FILTER (WHERE b.x IN (SELECT x FROM c)) < 5;
SELECT k, sum((SELECT max(c.x) FROM c WHERE c.k = a.k)) AS s, (SELECT min(b.x) FROM b WHERE b.k = a.k) AS m FROM a GROUP BY k;
SELECT a.k, sum((SELECT max(c.x) FROM c WHERE c.k = b.k)) AS s, (SELECT min(d.x) FROM c AS d WHERE d.k = a.k) AS m FROM a LEFT JOIN b ON a.x = b.x GROUP BY a.k;
SELECT a.k, sum(x) AS s FROM a JOIN (SELECT k AS kk FROM b) q ON kk = k AND x IN (SELECT x FROM c) GROUP BY a.k;
SELECT a.k, max(p.id) AS s FROM a LEFT JOIN p ON p.id = a.x AND p.id IN (SELECT x FROM c) GROUP BY a.k ORDER BY s, a.k LIMIT 2;
SELECT DISTINCT u.k FROM u LEFT JOIN b ON u.x = b.x AND u.x IN (SELECT x FROM c);
SELECT id FROM a WHERE x IN (SELECT sum((SELECT max(c.x) FROM c WHERE c.k = b.k)) FROM b GROUP BY b.id);
SELECT id FROM a WHERE x IN (SELECT b.x FROM b JOIN c ON b.k = c.k AND c.x IN (SELECT x FROM u));
SELECT id, (SELECT count(*) FROM b LEFT JOIN c ON b.k = c.k AND c.x IN (SELECT x FROM u) WHERE b.x = a.x) AS n FROM a;
SELECT q.n FROM (SELECT x IN (SELECT x FROM c) AS f, count(*) AS n FROM a GROUP BY 1) q WHERE q.f;
SELECT k, listagg(k, ',') WITHIN GROUP (ORDER BY (SELECT max(c.x) FROM c WHERE c.k = a.k), k) AS s FROM a GROUP BY k;
SELECT k, array_agg(x ORDER BY (SELECT max(c.x) FROM c WHERE c.k = a.k), x) AS s FROM a GROUP BY k;
SELECT x IN (SELECT x FROM c) AS f, k, count(*) AS n FROM a GROUP BY ROLLUP (1, k);
SELECT a.id FROM a JOIN b USING (k) JOIN c ON c.k = b.k AND c.x = (SELECT max(x) FROM u);
SELECT a.id, b.id AS j FROM a, b LEFT JOIN c ON b.k = c.k AND c.x IN (SELECT x FROM u) WHERE a.x = b.x;
SELECT a.id, l.v FROM a CROSS JOIN LATERAL (SELECT max(b.x) AS v FROM b JOIN c ON b.k = c.k AND c.x IN (SELECT x FROM u) WHERE b.k = a.k) l;
SELECT a.id, b.id AS j FROM a JOIN b ON a.k = b.k OR a.x IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND (a.x IN (SELECT x FROM c) OR b.x IN (SELECT x FROM c));
SELECT avg(x) FILTER (WHERE x > (SELECT avg(x) FROM c)) AS s, k FROM a GROUP BY k;
SELECT k, sum(x) OVER (PARTITION BY x IN (SELECT x FROM c)) AS s FROM a;
SELECT k, sum(sum((SELECT max(c.x) FROM c WHERE c.k = a.k))) OVER () AS s FROM a GROUP BY k;
SELECT k, max_by(id, (SELECT max(c.x) FROM c WHERE c.k = a.k)) AS s FROM a GROUP BY k;
SELECT k, count(*) AS n FROM a GROUP BY k HAVING max((SELECT max(c.x) FROM c WHERE c.k = a.k)) > 1;
SELECT k, sum(y) AS n FROM (SELECT k, (SELECT max(c.x) FROM c WHERE c.k = a.k) AS y FROM a) q GROUP BY k;
SELECT a.id, b.id AS j FROM a JOIN b ON a.x = (SELECT max(c.x) FROM c WHERE c.k = b.k);
SELECT a.id FROM a LEFT JOIN b USING (k) LEFT JOIN c ON c.k = a.k AND c.x = (SELECT max(x) FROM u);
SELECT a.*, b.id AS j FROM a LEFT JOIN b ON b.k = a.k AND b.x = (SELECT max(x) FROM u);
SELECT count(*) AS n, max(a.id) AS m FROM a NATURAL JOIN (SELECT k, x AS y FROM b) q LEFT JOIN c ON c.id = a.id AND c.x = (SELECT max(x) FROM u);
SELECT a.id, q.y FROM a LEFT JOIN (SELECT k, max(x) AS y FROM b GROUP BY k) q ON q.k = a.k AND q.y IN (SELECT x FROM c);
SELECT k, sum(x) FILTER (WHERE x = ANY (SELECT x FROM c)) AS s FROM a GROUP BY k;
SELECT k, sum((SELECT c.x FROM c WHERE c.k = a.k ORDER BY c.x LIMIT 1)) AS s FROM a GROUP BY k;
SELECT k, sum((SELECT count(*) FROM c WHERE c.x < a.x AND c.k <> a.k)) AS s FROM a GROUP BY k;
SELECT (SELECT count(*) FROM c WHERE c.x < a.x) AS n, count(*) AS m FROM a GROUP BY 1;
SELECT (SELECT count(*) FROM c WHERE c.x < a.x) + 1 AS n, count(*) AS m FROM a GROUP BY (SELECT count(*) FROM c WHERE c.x < a.x);
SELECT k, count(*) AS n FROM a GROUP BY k, EXISTS (SELECT 1 FROM c WHERE c.x = a.x) ORDER BY n, k LIMIT 3;
SELECT k, count(*) AS n FROM a GROUP BY GROUPING SETS ((k), (EXISTS (SELECT 1 FROM c WHERE c.x = a.x)));
SELECT DISTINCT k FROM a GROUP BY k, x IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a JOIN b ON a.k = b.k AND (SELECT count(*) FROM c WHERE c.k = a.k) > (SELECT count(*) FROM u WHERE u.k = b.k);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND (SELECT count(*) FROM c WHERE c.k = a.k) > (SELECT count(*) FROM u WHERE u.k = b.k);
SELECT a.id, b.id AS j FROM a FULL JOIN b ON a.k = b.k AND (SELECT count(*) FROM c WHERE c.k = a.k) > (SELECT count(*) FROM u WHERE u.k = b.k);
SELECT a.id, b.id AS j FROM a FULL JOIN b ON a.k = b.k AND a.x NOT IN (SELECT x FROM c) FULL JOIN u ON u.k = a.k AND u.x IN (SELECT x FROM c);
SELECT a.id, e.v FROM a CROSS JOIN UNNEST(ARRAY[1, 2]) AS e (v) JOIN b ON b.id = e.v AND b.x IN (SELECT x FROM c);
SELECT a.id, e.v FROM a JOIN b ON a.k = b.k AND a.x IN (SELECT x FROM c) CROSS JOIN UNNEST(ARRAY[1, 2]) AS e (v);
SELECT k, sum(e.v) AS s, sum((SELECT max(x) FROM c WHERE c.x = e.v)) AS t FROM a CROSS JOIN UNNEST(ARRAY[1, 2]) AS e (v) GROUP BY k;
SELECT q.k, sum((SELECT max(c.x) FROM c WHERE c.k = q.k)) AS s FROM (SELECT k, x FROM a UNION ALL SELECT k, x FROM b) q GROUP BY q.k;
SELECT id, (SELECT sum((SELECT max(c.x) FROM c WHERE c.k = b.k)) FROM b WHERE b.k = a.k) AS s FROM a;
SELECT id, (SELECT sum((SELECT max(c.x) FROM c WHERE c.k = a.k)) FROM b WHERE b.k = a.k) AS s FROM a;
SELECT a.id FROM a LEFT JOIN b ON a.k = b.k AND b.x IN (SELECT x FROM c) WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.x = b.x);
SELECT a.id, EXISTS (SELECT 1 FROM u WHERE u.x = b.x AND u.k = a.k) AS e FROM a LEFT JOIN b ON a.k = b.k AND b.x IN (SELECT x FROM c);
SELECT a.id, b.id AS j FROM a LEFT JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.k = a.k);
SELECT a.id, b.id AS j, u.id AS l FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN u ON u.k = a.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x);
SELECT a.k, count(b.id) AS n FROM a LEFT JOIN b ON b.k = a.k LEFT JOIN u ON u.id = a.id AND u.x > (SELECT min(c.x) FROM c WHERE c.k = a.k OR c.id = u.id) GROUP BY a.k;
--: NOT_YET
SELECT a.id, b.id AS j FROM a FULL JOIN b ON a.k = b.k AND EXISTS (SELECT 1 FROM c WHERE c.x = b.x AND c.k = a.k);

-- Rows of values in subqueries, and subqueries in ORDER BY
--: ok
SELECT id FROM a WHERE k IS NOT NULL AND x IS NOT NULL AND (k, x) NOT IN (SELECT k, x FROM b WHERE k IS NOT NULL AND x IS NOT NULL);
SELECT id, (k, x) IN (SELECT k, x FROM b WHERE k IS NOT NULL AND x IS NOT NULL) AS e FROM a WHERE k IS NOT NULL AND x IS NOT NULL;
SELECT id FROM a WHERE id > 3 OR (id, id) NOT IN (SELECT id, id + 0 FROM b WHERE id IS NOT NULL);
SELECT id FROM a ORDER BY (SELECT count(*) FROM b WHERE b.k = a.k) DESC, id LIMIT 4;
SELECT k, count(*) AS n FROM a GROUP BY k ORDER BY (SELECT max(c.x) FROM c WHERE c.k = a.k) NULLS FIRST, k LIMIT 2;
SELECT id, x FROM a QUALIFY row_number() OVER (PARTITION BY k ORDER BY x, id) <= (SELECT count(*) FROM c WHERE c.k = a.k);
SELECT k, count(*) AS n FROM a GROUP BY k QUALIFY rank() OVER (ORDER BY count(*) DESC) <= (SELECT count(DISTINCT k) FROM b);
SELECT id, count(DISTINCT x) OVER (PARTITION BY k) AS n, count(DISTINCT k) FILTER (WHERE x > 1) OVER () AS m FROM a;

-- Shares: divisors that count rows that are there
SELECT k, 1e0 * count(*) / sum(count(*)) OVER () AS s FROM a GROUP BY k;
SELECT id, x % count(*) OVER (PARTITION BY k) AS s FROM a;
