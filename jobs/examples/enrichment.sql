-- A day of downloads. At noon every tenth user goes from free to paid, and downloads 100 MB in the
-- millisecond before and 1,000 MB at that very moment: the paid hour of noon is therefore known.
SET VARIABLE users = at_size(1000, 100000);
CREATE TEMP MACRO at_second(after_midnight) AS TIMESTAMPTZ '2026-03-02 00:00:00Z' + seconds(after_midnight::DOUBLE);
CREATE TEMP MACRO country(i, n) AS one_of(i * 10 + n, 'country', ['AT', 'CH', 'DE', 'FR', 'PL']);

-- Users 0, 10, 20 … upgrade. All others stay on the free plan, but they move, and some of them leave.
CREATE TEMP TABLE profiles AS
SELECT user_id, plan, country, changed_at, deleted, arrives(user_id * 10 + n, delayed(user_id * 10 + n, changed_at, 0, 1)) AS _arrivals
FROM (
  SELECT i AS user_id, 0 AS n, 'free' AS plan, country(i, 0) AS country, at_second(-3600 * uniform(i, 'registered')) AS changed_at, false AS deleted
  FROM range(getvariable('users')) AS r(i)
  UNION ALL
  SELECT i, 1, 'paid', country(i, 0), at_second(43200), false FROM range(0, getvariable('users'), 10) AS r(i)
  UNION ALL
  SELECT i, 2, 'free', country(i, 2), at_second(86000 * uniform(i, 'moves')), false
  FROM range(getvariable('users')) AS r(i) WHERE i % 10 IN (1, 2, 3)
  UNION ALL
  SELECT i, 3, NULL, NULL, at_second(80000), true FROM range(9, getvariable('users'), 100) AS r(i)
);

CREATE TEMP TABLE events AS
SELECT
  event_id,
  user_id,
  megabytes,
  at_second(second) AS happened_at,
  arrives(event_id, delayed(event_id, happened_at, 0.03, 1200)) AS _arrivals
FROM (
  SELECT row_number() OVER (ORDER BY second, user_id) AS event_id, *
  FROM (
    SELECT pick(i, 'user', getvariable('users')) AS user_id, round(exponential(i, 'megabytes', 5), 2) AS megabytes, 86000 * uniform(i, 'time') AS second
    FROM range(10 * getvariable('users')) AS r(i)
    UNION ALL
    SELECT i, 100, 43199.999 FROM range(0, getvariable('users'), 10) AS r(i)
    UNION ALL
    SELECT i, 1000, 43200 FROM range(0, getvariable('users'), 10) AS r(i)
  )
  -- Of those who upgrade, nobody downloads anything else in these two hours.
  WHERE user_id % 10 > 0 OR megabytes >= 100 OR second NOT BETWEEN 39600 AND 46800
);
