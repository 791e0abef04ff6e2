-- A day in a shop. A visitor comes once or twice, with hours between. One robot clicks every 20
-- minutes, all day. Some phones send the last click of their first visit hours later.
SET VARIABLE visits = at_size(3000, 1000000);

CREATE TEMP TABLE visit AS
SELECT
  i AS visit,
  i // 2 AS visitor,
  seconds(36000 * uniform(i, 'begin') + 43200 * (i % 2)) AS since_midnight,
  least(1 + exponential(i, 'length', 4)::BIGINT, 20) AS clicks,
  one_of(i, 'source', ['search', 'letter', 'social', NULL]) AS source,
  uniform(i, 'buys') < 0.12 AS buys,
  i % 2 = 0 AND pick(i, 'phone', 25) = 0 AS sends_late
FROM range(getvariable('visits')) AS r(i)
WHERE i % 2 = 0 OR pick(i, 'again', 3) > 0;

CREATE TEMP TABLE click AS
SELECT
  visitor,
  CASE
    WHEN n = 0 THEN one_of(visit, 'entry', ['home', 'product', 'product'])
    WHEN buys AND n = clicks - 1 THEN 'paid'
    WHEN n = clicks - 2 AND pick(visit, 'cart', 3) > 0 THEN 'cart'
    ELSE one_of(visit + n, 'page', ['search', 'product', 'product'])
  END AS page,
  CASE n WHEN 0 THEN source END AS source,
  -- At most 19 * 4 minutes: the second visit always begins later.
  since_midnight + seconds(n * (10 + 230 * uniform(visit, 'pace'))) AS since_midnight,
  sends_late AND n > 0 AND n = clicks - 1 AS late
FROM visit, range(20) AS r(n) WHERE n < clicks
UNION ALL
SELECT -1, 'product', NULL, to_minutes(20 * n), false FROM range(72) AS r(n);

CREATE TEMP TABLE clicks AS
SELECT
  click_id,
  visitor,
  page,
  source,
  TIMESTAMPTZ '2026-03-02 00:00:00Z' + since_midnight AS clicked_at,
  arrives(click_id, CASE WHEN late THEN clicked_at + seconds(14400 + 7200 * uniform(click_id, 'home'))
    ELSE delayed(click_id, clicked_at, 0.02, 60) END) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY since_midnight, visitor) AS click_id, * FROM click);
