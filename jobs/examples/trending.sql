-- Two hours of posts. A goal is talked of for five minutes, an earthquake for half an hour, and one
-- robot advertises every two seconds. Some phones send half an hour later.
SET VARIABLE posts = at_size(12000, 3000000);

CREATE TEMP TABLE post AS
SELECT
  pick(i, 'author', getvariable('posts') // 4) AS author,
  CASE pick(i, 'tags', 4)
    WHEN 0 THEN []
    WHEN 1 THEN [one_of(i, 'case', ['#Rain', '#rain'])]
    ELSE ['#topic' || popular(i, 'first', 400), '#topic' || popular(i, 'second', 400)]
  END AS tags,
  seconds(7200 * uniform(i, 'time')) AS since_six
FROM range(getvariable('posts')) AS r(i)
UNION ALL
SELECT
  pick(i, 'fan', getvariable('posts') // 4), [one_of(i, 'case', ['#Goal', '#goal', '#GOAL'])],
  INTERVAL '60' MINUTE + seconds(300 * uniform(i, 'minute'))
FROM range(getvariable('posts') // 15) AS r(i)
UNION ALL
SELECT
  pick(i, 'witness', getvariable('posts') // 4), ['#earthquake'],
  INTERVAL '80' MINUTE + seconds(1800 * power(uniform(i, 'minute'), 2))
FROM range(getvariable('posts') // 10) AS r(i)
UNION ALL
SELECT -1, ['#buynow'], seconds(2 * i) FROM range(3600) AS r(i);

CREATE TEMP TABLE posts AS
SELECT
  post_id,
  author,
  tags,
  TIMESTAMPTZ '2026-03-02 18:00:00Z' + since_six AS posted_at,
  arrives(post_id, CASE
    WHEN author >= 0 AND since_six < INTERVAL '75' MINUTE AND pick(post_id, 'offline', 200) = 0
      THEN posted_at + seconds(1500 + 900 * uniform(post_id, 'back'))
    ELSE delayed(post_id, posted_at, 0.02, 8) END) AS _arrivals
FROM (SELECT row_number() OVER (ORDER BY since_six, author) AS post_id, * FROM post);
