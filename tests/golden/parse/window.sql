--- tumble
SELECT * FROM TUMBLE(t, ts, INTERVAL '1' MINUTE)

--- tumble with an alias and an offset
SELECT w.a FROM TUMBLE(t, ts, INTERVAL '1' DAY, INTERVAL '6' HOUR) AS w

--- tumble in any case
select * from tumble(T, Ts, interval '10' minutes) W
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '10' MINUTE) AS w

--- hop: slide, then size
SELECT * FROM HOP(t, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)

--- cumulate: step, then size
SELECT * FROM CUMULATE(t, ts, INTERVAL '1' HOUR, INTERVAL '1' DAY)

--- session
SELECT * FROM SESSION(t, ts, INTERVAL '30' MINUTE)

--- session per key
SELECT * FROM SESSION(TABLE t PARTITION BY a, b, DESCRIPTOR(ts), INTERVAL '30' MINUTE) AS s

--- Flink's tumble
SELECT * FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '10' MINUTE)

--- Flink's tumble in TABLE
SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' MINUTES)) AS w
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '10' MINUTE) AS w

--- Flink's hop
SELECT * FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTES, INTERVAL '10' MINUTES))
--- prints
SELECT * FROM HOP(t, ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)

--- Flink's named parameters, in any order
SELECT * FROM TABLE(TUMBLE(SIZE => INTERVAL '10' MINUTES, data => TABLE t, TIMECOL => DESCRIPTOR(ts), OFFSET => INTERVAL '1' MINUTE)) AS w
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '10' MINUTE, INTERVAL '1' MINUTE) AS w

--- named parameters of HOP, without DESCRIPTOR
SELECT * FROM HOP(DATA => t, TIMECOL => ts, SIZE => INTERVAL '10' MINUTE, SLIDE => INTERVAL '5' MINUTE)
--- prints
SELECT * FROM HOP(t, ts, INTERVAL '5' MINUTE, INTERVAL '10' MINUTE)

--- named parameters of CUMULATE
SELECT * FROM CUMULATE(DATA => TABLE t, TIMECOL => DESCRIPTOR(ts), STEP => INTERVAL '1' HOUR, SIZE => INTERVAL '1' DAY)
--- prints
SELECT * FROM CUMULATE(t, ts, INTERVAL '1' HOUR, INTERVAL '1' DAY)

--- named parameters of SESSION
SELECT * FROM SESSION(DATA => TABLE t PARTITION BY a, b, TIMECOL => DESCRIPTOR(ts), GAP => INTERVAL '30' MINUTE) AS s
--- prints
SELECT * FROM SESSION(TABLE t PARTITION BY a, b, DESCRIPTOR(ts), INTERVAL '30' MINUTE) AS s

--- a subquery under a name
SELECT * FROM TUMBLE(DATA => (SELECT * FROM t), TIMECOL => ts, SIZE => INTERVAL '1' MINUTE)
--- prints
SELECT * FROM TUMBLE((SELECT * FROM t), ts, INTERVAL '1' MINUTE)

--- a gap that is computed
SELECT * FROM SESSION(t, ts, INTERVAL '10' MINUTE * 3)
--- prints
SELECT * FROM SESSION(t, ts, INTERVAL '30' MINUTE)

--- lengths that are added, subtracted and divided
SELECT * FROM HOP(t, ts, (INTERVAL '1' HOUR - INTERVAL '30' MINUTE) / 2, 2 * INTERVAL '1' HOUR + INTERVAL '60' MINUTE, -INTERVAL '5' MINUTE)
--- prints
SELECT * FROM HOP(t, ts, INTERVAL '15' MINUTE, INTERVAL '180' MINUTE, INTERVAL '-5' MINUTE)

--- a part of a unit
SELECT * FROM TUMBLE(t, ts, INTERVAL '1.5' MINUTE)
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '90' SECOND)

--- months that are multiplied
SELECT * FROM TUMBLE(t, ts, INTERVAL '1' QUARTER + INTERVAL '1' YEAR, 'Europe/Berlin')
--- prints
SELECT * FROM TUMBLE(t, ts, INTERVAL '5' QUARTER, 'Europe/Berlin')

--- over a subquery
SELECT * FROM TUMBLE((SELECT * FROM t WHERE a > 1), ts, INTERVAL '1' MINUTE) AS w

--- over a subquery, Flink's way
SELECT * FROM TUMBLE(TABLE (SELECT * FROM t), DESCRIPTOR(ts), INTERVAL '1' MINUTE)
--- prints
SELECT * FROM TUMBLE((SELECT * FROM t), ts, INTERVAL '1' MINUTE)

--- over a window
SELECT * FROM TUMBLE(HOP(t, ts, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE), window_start, INTERVAL '1' HOUR)

--- joined
SELECT * FROM a JOIN TUMBLE(t, ts, INTERVAL '1' MINUTE) AS w ON w.id = a.id

--- joined with another window
SELECT * FROM TUMBLE(t, ts, INTERVAL '1' MINUTE) AS l JOIN TUMBLE(u, ts, INTERVAL '1' MINUTE) AS r ON l.id = r.id AND l.window_start = r.window_start

--- in a WITH clause
WITH w AS (SELECT * FROM TUMBLE(t, ts, INTERVAL '1' MINUTE)) SELECT window_start, COUNT(*) FROM w GROUP BY window_start

--- columns and tables named like the functions
SELECT tumble, hop FROM session

--- date_trunc as a window
SELECT date_trunc('hour', ts), count(*) FROM t GROUP BY date_trunc('hour', ts)
--- prints
SELECT DATE_TRUNC('HOUR', ts), COUNT(*) FROM t GROUP BY DATE_TRUNC('HOUR', ts)

--- match_recognize with WITHIN
SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a ORDER BY b MEASURES LAST(x.c) AS d ONE ROW PER MATCH AFTER MATCH SKIP TO NEXT ROW PATTERN (x y+) WITHIN INTERVAL '5' MINUTE DEFINE y AS y.a > x.a) AS m

--- match_recognize with FINAL, RUNNING, anchors, exclusion and SKIP TO
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY b MEASURES FINAL LAST(X.a) - running first(a) AS d, count(X.*) AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO x PATTERN (^ X {- Y*? -} PERMUTE(X, Z) $) DEFINE x AS a > 1)
--- prints
SELECT * FROM t MATCH_RECOGNIZE ( ORDER BY b MEASURES FINAL LAST(x.a) - RUNNING FIRST(a) AS d, COUNT(x.*) AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS AFTER MATCH SKIP TO X PATTERN (^ x {- y*? -} permute(x, z) $) DEFINE x AS a > 1)

--- match_recognize with SUBSET and all rows
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY b ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (X   Y+ (Z | W){2,3}?) SUBSET s = (x, y) DEFINE y AS y.a > x.a)
--- prints
SELECT * FROM t MATCH_RECOGNIZE ( ORDER BY b ALL ROWS PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (x y+ (z | w){2,3}?) SUBSET s = (x, y) DEFINE y AS y.a > x.a)

--- match_recognize skipping to a variable
SELECT * FROM t MATCH_RECOGNIZE (ORDER BY b ONE ROW PER MATCH AFTER MATCH SKIP TO LAST x PATTERN (x) DEFINE x AS x.a > 1)
--- prints
SELECT * FROM t MATCH_RECOGNIZE ( ORDER BY b ONE ROW PER MATCH AFTER MATCH SKIP TO LAST X PATTERN (x) DEFINE x AS x.a > 1)

--- match_recognize over several lines
SELECT *
FROM t MATCH_RECOGNIZE (
  PARTITION BY a
  ORDER BY b
  MEASURES x.c AS d
  PATTERN (x y)
  WITHIN INTERVAL '5' MINUTE
  DEFINE y AS y.a > x.a, x AS TRUE
) AS m
--- prints
SELECT
  *
FROM t
MATCH_RECOGNIZE (
  PARTITION BY a
  ORDER BY
    b
  MEASURES x.c AS d
  PATTERN (x y)
  WITHIN INTERVAL '5' MINUTE
  DEFINE y AS y.a > x.a, x AS TRUE
) AS m
