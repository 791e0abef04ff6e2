-- Six hours of a news site. Three things happen, which the views must show: a final draws readers
-- for five minutes, a robot reads the weather all day, and one search in fifty is slow.
SET VARIABLE views = at_size(18000, 600000);

CREATE TEMP TABLE view AS
SELECT
  CASE popular(i, 'page', 80)
    WHEN 0 THEN '/'
    WHEN 1 THEN '/search'
    ELSE '/' || one_of(i, 'section', ['politics', 'sport', 'culture', 'science'])
      || '/' || popular(i, 'page', 80)
  END AS page,
  pick(i, 'user', getvariable('views') // 6) AS user_id,
  one_of(i, 'device', ['desktop', 'desktop', 'desktop', 'mobile', 'mobile']) AS device,
  seconds(21600 * uniform(i, 'time')) AS since_six
FROM range(getvariable('views')) AS r(i)
UNION ALL
SELECT
  '/sport/final', pick(i, 'fan', getvariable('views') // 6), 'desktop',
  INTERVAL '3' HOUR + seconds(300 * uniform(i, 'goal'))
FROM range(getvariable('views') // 30) AS r(i)
UNION ALL
SELECT '/weather', -1, 'desktop', seconds(5 * i) FROM range(4320) AS r(i);

CREATE TEMP TABLE page_views AS
SELECT
  view_id,
  'https://news.example' || page || CASE pick(view_id, 'campaign', 4)
    WHEN 0 THEN '?utm_source=' || one_of(view_id, 'source', ['letter', 'social']) ELSE '' END AS url,
  user_id,
  device,
  (CASE WHEN page = '/search' AND pick(view_id, 'slow', 50) = 0 THEN 8000 ELSE 150 END
    + exponential(view_id, 'load', 120))::INTEGER AS load_ms,
  TIMESTAMPTZ '2026-03-02 06:00:00Z' + since_six AS viewed_at,
  arrives(view_id, CASE
    -- In an aeroplane: these views come two to three hours late.
    WHEN device = 'mobile' AND since_six < INTERVAL '150' MINUTE AND pick(view_id, 'flight', 100) = 0
      THEN viewed_at + seconds(7200 + 3600 * uniform(view_id, 'landing'))
    -- In a tunnel, or out of range: up to 50 minutes.
    WHEN device = 'mobile' AND pick(view_id, 'range', 5) = 0
      THEN viewed_at + seconds(3000 * uniform(view_id, 'back'))
    ELSE delayed(view_id, viewed_at, 0, 0) END) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY since_six, page, user_id) AS view_id, * FROM view);
