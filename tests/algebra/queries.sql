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
