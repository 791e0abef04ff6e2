-- Five minutes, every minute. Authors count, not posts: a robot that repeats itself is one author,
-- and so is a post that is delivered twice.
CREATE STREAMING VIEW tag_windows (
  tag COMMENT 'in lower case',
  authors COMMENT 'different authors who used the tag'
)
COMMENT 'Authors per hashtag and five minutes, final'
LATE ROWS DROP INTO late_posts
AS
SELECT
  p.window_start,
  p.window_end,
  lower(t.tag) AS tag,
  count(DISTINCT p.author) AS authors
FROM HOP(posts, posted_at, INTERVAL '1' MINUTE, INTERVAL '5' MINUTE) AS p
CROSS JOIN UNNEST(p.tags) AS t (tag)
GROUP BY p.window_start, p.window_end, lower(t.tag)
EMIT ON WINDOW CLOSE;
