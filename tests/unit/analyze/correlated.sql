-- Queries of which DuckDB returns the same rows; tests/unit/analyze/test_correlated.py runs them.

SELECT a, f FROM l CROSS JOIN LATERAL (SELECT r.f FROM r WHERE r.e < l.b ORDER BY r.e DESC, f
  LIMIT 2) q;
SELECT a, f, x FROM l LEFT JOIN LATERAL (SELECT r.f, r.e + l.b AS x FROM r WHERE r.e < l.b ORDER
  BY abs(r.e - l.b) DESC, f LIMIT 1 OFFSET 1) q ON true;
SELECT a, f FROM l LEFT JOIN LATERAL (SELECT r.f, r.d FROM r WHERE r.e < l.b) q ON q.d = l.a;
SELECT a, n, m FROM l CROSS JOIN LATERAL (SELECT count(*) AS n, max(r.e * l.a) AS m FROM r WHERE
  r.e < l.b) q;
SELECT a, n FROM l CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE r.e < l.b) + 1 AS n FROM r
  WHERE r.d = l.a) q;
SELECT a, n, k FROM l CROSS JOIN LATERAL (SELECT r.f AS k, sum(r.e + l.b) AS n FROM r WHERE r.d <>
  l.a GROUP BY r.f) q;
SELECT a, n FROM l LEFT JOIN LATERAL (SELECT count(*) AS n FROM r WHERE r.d = l.a HAVING count(*)
  > 1) q ON true;
SELECT a, n FROM l LEFT JOIN LATERAL (SELECT count(*) AS n FROM r WHERE r.d = l.a) q ON q.n > 1;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT DISTINCT r.d + l.a AS v FROM r) q;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT r.d AS v FROM r WHERE r.e = l.b UNION ALL SELECT t.i
  FROM t WHERE t.j = l.b) q;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT r.d AS v FROM r WHERE r.e = l.b UNION SELECT l.a) q;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT r.d AS v FROM r JOIN t ON t.i = r.d AND t.j > l.b) q;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT r.d AS v FROM r WHERE r.e > l.b AND EXISTS (SELECT 1
  FROM t WHERE t.i = r.d AND t.k = l.c)) q;
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT max(m) AS v FROM (SELECT r.e AS m FROM r WHERE r.d =
  l.a ORDER BY r.e LIMIT 1) z) q;
SELECT l.a, q.e, w.v FROM l CROSS JOIN LATERAL (SELECT r.e FROM r WHERE r.d < l.a) q CROSS JOIN
  LATERAL (SELECT t.j AS v FROM t WHERE t.j > q.e AND t.i <> l.a ORDER BY t.j LIMIT 1) w;
SELECT a, v, w FROM l CROSS JOIN LATERAL (SELECT r.d AS v, z.w FROM r CROSS JOIN LATERAL (SELECT
  t.j + l.b AS w FROM t WHERE t.i = r.d) z) q;
SELECT l.a, t.i, v FROM l JOIN t ON t.j = l.b CROSS JOIN LATERAL (SELECT r.d AS v FROM r WHERE r.e
  > l.b ORDER BY r.e + t.i, v LIMIT 1) q;
SELECT l.a, t.i, v FROM l LEFT JOIN t ON t.j = l.b LEFT JOIN LATERAL (SELECT count(*) AS v FROM r
  WHERE r.e > coalesce(t.j, 0)) q ON true;
SELECT l.*, q.* FROM l, LATERAL (SELECT r.*, l.a AS z FROM r) q;
SELECT l.*, q.* FROM l, LATERAL (SELECT r.d, l.a + 1 FROM r) q(p, s);
SELECT a, v FROM l CROSS JOIN LATERAL (SELECT r.d AS v, row_number() OVER (ORDER BY r.e, r.d, r.f)
  AS n FROM r WHERE r.e > l.b) q;
SELECT a, x FROM l CROSS JOIN LATERAL (SELECT z.x FROM (VALUES (l.a), (l.b)) z(x) WHERE z.x > 1) q;
SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE EXISTS (SELECT 1 FROM t WHERE l.a = t.i AND
  r.e = t.j));
SELECT a FROM l WHERE EXISTS (SELECT r.d FROM r LEFT JOIN t ON r.d = t.i AND l.b = r.e AND l.b =
  t.j WHERE l.a = r.d);
SELECT a FROM l WHERE EXISTS (SELECT * FROM l AS l2 LEFT JOIN r ON l.a = r.d);
SELECT c FROM l WHERE b IN (SELECT d FROM r LEFT JOIN (SELECT j FROM t WHERE l.c = t.k AND i > 1)
  t2 ON r.e = t2.j);
SELECT * FROM l WHERE EXISTS (SELECT * FROM r RIGHT JOIN (SELECT * FROM t WHERE t.j = l.b AND i <
  50) t1 ON r.f = t1.k);
SELECT c FROM l WHERE b IN (SELECT d FROM r RIGHT JOIN (SELECT j FROM t WHERE l.c = t.k AND i > 1)
  t2 ON r.e = t2.j);
SELECT c FROM l WHERE b NOT IN (SELECT d FROM r RIGHT JOIN (SELECT j FROM t WHERE l.c = t.k AND i
  > 1) t2 ON r.e = t2.j);
SELECT * FROM l WHERE EXISTS (SELECT * FROM (SELECT f FROM r WHERE r.d = l.a AND r.e > 1) r1 FULL
  JOIN t ON r1.f = t.k);
SELECT c FROM l WHERE b NOT IN (SELECT t.j FROM (SELECT f FROM r WHERE r.d = l.a AND r.e > 1) r1
  FULL JOIN t ON r1.f = t.k AND t.i > l.a);
SELECT * FROM l WHERE EXISTS (SELECT * FROM (SELECT f FROM r WHERE r.d = l.a AND r.e > 1) r1 LEFT
  JOIN t ON r1.f = t.k);
SELECT * FROM l WHERE b NOT IN (SELECT e * 5 FROM (SELECT SUM(e) AS e FROM r WHERE l.a = r.d) r1);
SELECT * FROM l WHERE b IN (WITH r1 AS (SELECT e, f FROM r WHERE l.a = r.d AND r.e < 50) SELECT
  t.j FROM r1 LEFT JOIN t ON r1.f = t.k);
SELECT * FROM (SELECT 2 + a d2, 3 + b d3 FROM l) e WHERE EXISTS (SELECT 1 FROM (SELECT d + 1 d1
  FROM r) d WHERE d1 = e.d2 AND EXISTS (SELECT 2 FROM (SELECT i + 4 d4, i + 5 d5, i + 6 d6 FROM t)
  WHERE d4 = d.d1 AND d6 = e.d3));
SELECT * FROM l WHERE a IN (SELECT l.a FROM r WHERE r.d = l.b);
SELECT a FROM l WHERE EXISTS (SELECT l.a IS NULL FROM r WHERE r.d = l.b);
SELECT a FROM l WHERE NOT EXISTS (SELECT l.b IS NULL FROM r WHERE r.d = 2);
SELECT a FROM l WHERE a NOT IN (SELECT l.b FROM r);
SELECT a FROM l WHERE b IN (SELECT count(*) FROM r WHERE l.c = r.f);
SELECT a FROM l WHERE b NOT IN (SELECT count(*) FROM r WHERE l.c = r.f);
SELECT a FROM l WHERE EXISTS (SELECT MAX(r.e) OVER () FROM r WHERE l.c = r.f GROUP BY r.e);
SELECT a FROM l WHERE EXISTS (SELECT MIN(e) FROM r WHERE l.c = r.f AND EXISTS (SELECT MAX(i) FROM
  t WHERE r.e > t.j));
SELECT a FROM l WHERE EXISTS (SELECT COUNT(1) FROM r WHERE l.b = r.d AND e < 100 GROUP BY f);
SELECT a FROM l WHERE EXISTS (SELECT f FROM r WHERE l.a = r.d GROUP BY f HAVING count(*) > 1);
SELECT a FROM l WHERE EXISTS (SELECT f FROM r WHERE l.a = r.d GROUP BY f HAVING count(*) > l.a);
SELECT a FROM l WHERE a IN (SELECT d FROM r WHERE r.f = l.c ORDER BY e LIMIT 1);
SELECT a FROM l WHERE a IN (SELECT d FROM r WHERE r.f = l.c ORDER BY abs(e - l.b), d LIMIT 1);
SELECT a FROM l WHERE EXISTS (SELECT * FROM r WHERE r.f = l.c ORDER BY f LIMIT 1);
SELECT a, (SELECT count(*) FROM r WHERE r.e < l.b) AS n FROM l;
SELECT a, (SELECT max(r.e) FROM r WHERE r.e < l.b AND r.f > l.c) AS n FROM l;
SELECT a, (SELECT sum(r.e * l.a) FROM r WHERE r.f = l.c) AS n FROM l;
SELECT a, (SELECT l.a + max(r.e) FROM r WHERE r.f = l.c) AS n FROM l;
SELECT a, (SELECT r.e FROM r WHERE r.f = l.c ORDER BY r.e LIMIT 1) AS n FROM l;
SELECT a, (SELECT r.e FROM r WHERE r.e <> l.b ORDER BY abs(r.e - l.b), r.e LIMIT 1) AS n FROM l;
SELECT c, max(b) AS m FROM l GROUP BY c HAVING max(b) > (SELECT count(*) FROM r WHERE r.f < l.c);
SELECT c, (SELECT count(*) FROM r WHERE r.f < l.c) AS n FROM l GROUP BY c;
SELECT a FROM l WHERE b = (SELECT max(r.e) FROM r WHERE r.d < l.a);
SELECT a FROM l WHERE b > ALL (SELECT r.e FROM r WHERE r.d < l.a);
SELECT a FROM l JOIN t ON t.i = l.a WHERE EXISTS (SELECT 1 FROM r WHERE r.d = l.a HAVING count(*)
  > t.j);
SELECT a FROM l WHERE EXISTS (SELECT 1 FROM r WHERE r.d = l.a EXCEPT SELECT 1 FROM t WHERE t.j =
  l.b);
SELECT a FROM l WHERE l.c IN (SELECT f FROM r, t WHERE r.d = t.i AND t.j IN (SELECT e FROM r AS r2
  WHERE r2.d = l.a));
SELECT * FROM l SEMI JOIN r ON l.a = r.d AND r.e > l.b;
SELECT * FROM l ANTI JOIN r ON l.a = r.d WHERE l.b > 1 OR l.c IS NULL;
SELECT l.c, t.i FROM l SEMI JOIN r ON l.c = r.f LEFT JOIN t ON t.j = l.b;
SELECT c, count(*) AS n FROM l ANTI JOIN (SELECT d AS a FROM r) AS q USING (a) GROUP BY c;
SELECT id, x FROM g, LATERAL unnest(xs) AS u (x);
SELECT id, x FROM g LEFT JOIN LATERAL unnest(xs) AS u (x) ON true;
SELECT l.a, r.e FROM l LEFT JOIN r ON r.d = l.a AND EXISTS (SELECT 1 FROM t WHERE t.i = r.e AND
  t.j > l.b);
SELECT l.*, r.* FROM l LEFT JOIN r ON r.d = l.a AND EXISTS (SELECT 1 FROM t WHERE t.i = r.e AND
  t.j >= l.b);
SELECT l.a, r.e FROM l LEFT JOIN r ON EXISTS (SELECT 1 FROM t WHERE t.i = r.d AND t.j = l.b);
SELECT x.a, y.a AS o FROM l x LEFT JOIN l y ON y.b = x.b AND y.b > (SELECT min(t.j) FROM t WHERE
  t.i = x.a OR t.i = y.a);
SELECT l.c, count(r.e) AS n FROM l LEFT JOIN r ON r.d = l.a AND EXISTS (SELECT 1 FROM t WHERE
  t.i = r.e AND t.j > l.b) GROUP BY l.c;
SELECT a FROM l ORDER BY (SELECT count(*) FROM r WHERE r.d = l.a) DESC, a, b LIMIT 3;
SELECT * FROM l ORDER BY (SELECT max(e) FROM r WHERE r.d = l.a) DESC NULLS LAST, a, b, c LIMIT
  3;
SELECT a AS x, b FROM l ORDER BY (SELECT max(e) FROM r WHERE r.d = l.a) DESC NULLS LAST, x NULLS
  FIRST, l.b, c NULLS LAST LIMIT 3 OFFSET 1;
SELECT a, count(*) AS n FROM l GROUP BY a ORDER BY (SELECT count(*) FROM r WHERE r.d = l.a)
  DESC, a NULLS FIRST LIMIT 2;
SELECT a, b FROM l WHERE a IN (SELECT d FROM r ORDER BY (SELECT max(j) FROM t WHERE t.i = r.d)
  NULLS LAST, d, e LIMIT 3);
SELECT a, b FROM l QUALIFY rank() OVER (ORDER BY b) <= (SELECT min(e) FROM r);
SELECT a, b FROM l QUALIFY row_number() OVER (PARTITION BY a ORDER BY b, c) = 1 AND a IN (SELECT
  d FROM r);
SELECT * FROM l QUALIFY row_number() OVER (PARTITION BY a ORDER BY b, c) <= (SELECT count(*)
  FROM r WHERE r.d = l.a);
SELECT DISTINCT a AS x FROM l QUALIFY x IN (SELECT d FROM r) AND count(*) OVER (PARTITION BY a)
  >= 1 ORDER BY x LIMIT 1;
SELECT a, sum(b) AS s FROM l GROUP BY a QUALIFY rank() OVER (ORDER BY sum(b)) <= (SELECT
  count(*) FROM r);
SELECT a AS x, rank() OVER (ORDER BY b) AS n FROM l QUALIFY n <= (SELECT min(d) + 1 FROM r)
  ORDER BY b DESC, x LIMIT 2;
SELECT a, count(DISTINCT b) OVER (PARTITION BY c) AS n FROM l;
SELECT a, count(DISTINCT c) OVER () AS n, count(*) OVER () AS m FROM l;
SELECT a, count(DISTINCT c) FILTER (WHERE a > 1) OVER (PARTITION BY b) AS n FROM l;
SELECT c, count(DISTINCT sum(b)) OVER () AS n FROM l GROUP BY c;
SELECT a FROM l QUALIFY count(DISTINCT b) OVER (PARTITION BY c) > 1;
SELECT id FROM g WHERE EXISTS (SELECT 1 FROM UNNEST(xs) AS u (x) WHERE x > 1);
SELECT id FROM g WHERE NOT EXISTS (SELECT x FROM UNNEST(g.xs) AS u (x) WHERE u.x + id > 3);
SELECT id, n, m FROM g CROSS JOIN LATERAL (SELECT count(*) AS n, max(x) AS m FROM UNNEST(g.xs) AS u
  (x) WHERE x > id) q;
SELECT id, 2 IN (SELECT x FROM UNNEST(xs) AS u (x)) AS m, id NOT IN (SELECT x + 1 FROM UNNEST(xs)
  AS u (x) WHERE x <> 2) AS n FROM g;
SELECT id FROM g WHERE NOT (CAST(NULL AS INTEGER) IN (SELECT x FROM UNNEST(xs) AS u (x)) OR id = 4);
SELECT id, (SELECT count(*) FROM UNNEST(xs) AS u (x)) AS a, (SELECT count(x) FROM UNNEST(xs) AS u
  (x)) AS b, (SELECT count(DISTINCT x) FROM UNNEST(xs) AS u (x) WHERE x < 3) AS c FROM g;
SELECT id, (SELECT max(x) FROM UNNEST(xs) AS u (x)) AS a, (SELECT min(x * id) FROM UNNEST(xs) AS u
  (x) WHERE x > 1) AS b FROM g;
SELECT l.a FROM l WHERE EXISTS (SELECT 1 FROM g WHERE g.id = l.a AND EXISTS (SELECT 1 FROM
  UNNEST(g.xs) AS u (x) WHERE x = l.b));
