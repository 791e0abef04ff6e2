-- Four hours of advertisements. Three campaigns are clicked at rates that are known. The site with
-- games has robots, which click six advertisements of ten. Some clicks come after 30 minutes, and
-- some are of advertisements that nobody was shown. Full size is 1 million impressions an hour.
SET VARIABLE impressions = at_size(16000, 1000000);

CREATE TEMP TABLE impression AS
SELECT row_number() OVER (ORDER BY shown_at, i) AS impression_id, campaign, site, shown_at
FROM (
  SELECT
    i,
    one_of(i, 'campaign', ['shoes', 'phones', 'bank']) AS campaign,
    one_of(i, 'site', ['news', 'news', 'news', 'weather', 'weather', 'forum', 'games']) AS site,
    TIMESTAMPTZ '2026-03-02 10:00:00Z' + seconds(14400 * uniform(i, 'time')) AS shown_at
  FROM range(getvariable('impressions')) AS r(i)
);

CREATE TEMP TABLE click AS
SELECT
  impression_id,
  shown_at + seconds(CASE
    WHEN shown_at < TIMESTAMPTZ '2026-03-02 13:00:00Z' AND pick(impression_id, 'forgotten', 25) = 0
      THEN 1800 + 3600 * uniform(impression_id, 'tab')
    ELSE least(exponential(impression_id, 'wait', 60), 1700) END) AS clicked_at,
  1 + (pick(impression_id, 'nervous', 10) = 0)::INTEGER AS times
FROM impression
WHERE uniform(impression_id, 'clicked') < CASE
  WHEN site = 'games' THEN 0.6
  WHEN campaign = 'shoes' THEN 0.08
  WHEN campaign = 'phones' THEN 0.04
  ELSE 0.01 END
UNION ALL
SELECT
  900000000000 + i, TIMESTAMPTZ '2026-03-02 10:00:00Z' + seconds(14400 * uniform(i, 'forged')), 1
FROM range(getvariable('impressions') // 400) AS r(i);

CREATE TEMP TABLE impressions AS
SELECT *, arrives(impression_id, CASE
    -- The forum's server loses its connection now and then, and reports an hour later.
    WHEN site = 'forum' AND shown_at < TIMESTAMPTZ '2026-03-02 12:00:00Z'
      AND pick(impression_id, 'cut off', 50) = 0
      THEN shown_at + seconds(4200 + 1800 * uniform(impression_id, 'back'))
    ELSE delayed(impression_id, shown_at, 0.05, 20) END) AS _arrivals
FROM impression;

CREATE TEMP TABLE clicks AS
SELECT *, arrives(click_id, delayed(click_id, clicked_at, 0.05, 20)) AS _arrivals
FROM (
  SELECT
    row_number() OVER (ORDER BY clicked_at, impression_id, n) AS click_id,
    impression_id,
    clicked_at + seconds(0.4 * n) AS clicked_at
  FROM click, range(2) AS r(n) WHERE n < times
);
