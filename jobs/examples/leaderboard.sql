-- A day of games. A hundred champions end with 100,000 points less a hundred for each place; nobody
-- else comes near. Fifty cheaters have far more, and are banned; five of the bans are lifted again.
SET VARIABLE players = at_size(2000, 1000000);
CREATE TEMP MACRO at_second(after_midnight) AS TIMESTAMPTZ '2026-03-02 00:00:00Z' + seconds(after_midnight::DOUBLE);

CREATE TEMP TABLE game AS
SELECT pick(i, 'player', getvariable('players')) AS player, 100 + pick(i, 'points', 900) AS points,
  86000 * uniform(i, 'time') AS played
FROM range(5 * getvariable('players')) AS r(i)
UNION ALL
-- Champion k is player 900000000 + k; the last of its 20 games makes the sum exact. None is at noon.
SELECT 900000000 + k, CASE WHEN n < 19 THEN 4000 ELSE 100000 - 100 * k - 19 * 4000 END,
  n * 4300 + CASE n WHEN 10 THEN 3600 ELSE 600 * uniform(100 * k + n, 'champion') END
FROM range(1, 101) AS r(k), range(20) AS g(n)
UNION ALL
SELECT 800000000 + k, 50000, 40000 * uniform(100 * k + n, 'cheater') FROM range(50) AS r(k), range(4) AS g(n)
UNION ALL
-- At noon three play for a prize: the best of the hour, and two who tie.
SELECT 700000000 + k, CASE k WHEN 0 THEN 9000 ELSE 8000 END, 43200 + k FROM range(3) AS r(k);

CREATE TEMP TABLE results AS
SELECT
  result_id,
  player,
  points::BIGINT AS points,
  at_second(played) AS played_at,
  -- Telephones without a connection send their games an hour later.
  arrives(result_id, delayed(result_id, played_at, 0.05, 3600)) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY played, player) AS result_id, * FROM game);

CREATE TEMP TABLE bans AS
SELECT 800000000 + k AS player, 'impossible score' AS reason, false AS lifted,
  CASE WHEN k = 49 THEN [at_second(43200 + 60 * k), at_second(43260 + 60 * k)] ELSE [at_second(43200 + 60 * k)] END AS _arrivals
FROM range(50) AS r(k)
UNION ALL
SELECT 800000000 + k, NULL, true, [at_second(80000 + 60 * k)] FROM range(5) AS r(k);
