---
SELECT a FROM t JOIN u ON t.id = u.id LEFT JOIN v USING (id) CROSS JOIN w

---
SELECT a FROM t FULL OUTER JOIN u ON t.id = u.id RIGHT JOIN x ON x.a = u.a

---
SELECT a FROM t, u WHERE t.id = u.id

---
SELECT a FROM t JOIN u FOR SYSTEM_TIME AS OF t.ts ON t.id = u.id

---
SELECT a FROM t JOIN u FOR SYSTEM_TIME AS OF t.ts AS x ON t.id = x.id

---
SELECT a FROM t JOIN u AS x FOR SYSTEM_TIME AS OF t.ts ON t.id = x.id
--- prints
SELECT a FROM t JOIN u FOR SYSTEM_TIME AS OF t.ts AS x ON t.id = x.id

---
SELECT a FROM t FOR VERSION AS OF 12

---
SELECT a FROM t FOR TIMESTAMP AS OF TIMESTAMP '2026-01-01 00:00:00'
--- prints
SELECT a FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2026-01-01 00:00:00'

---
SELECT a, e FROM t CROSS JOIN UNNEST(t.items) AS u(e)

---
SELECT a, e, n FROM t CROSS JOIN UNNEST(t.items) WITH ORDINALITY AS u(e, n)

---
SELECT * FROM t, UNNEST(arr) AS u (x)
--- prints
SELECT * FROM t, UNNEST(arr) AS u(x)

---
SELECT * FROM t CROSS JOIN LATERAL (SELECT max(b) FROM u WHERE u.a = t.a) AS m
--- prints
SELECT * FROM t CROSS JOIN LATERAL (SELECT MAX(b) FROM u WHERE u.a = t.a) AS m

---
SELECT a FROM t NATURAL JOIN u
