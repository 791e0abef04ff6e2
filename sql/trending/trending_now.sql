-- The screen on the wall: no window has to close. Every commit corrects the five minutes up to now.
CREATE STREAMING VIEW trending_now (
  authors COMMENT 'different authors who used the tag',
  posts COMMENT 'each post once'
)
COMMENT 'The ten hashtags of the last five minutes'
AS
SELECT
  lower(t.tag) AS tag,
  count(DISTINCT p.author) AS authors,
  count(DISTINCT p.post_id) AS posts
FROM posts AS p
CROSS JOIN UNNEST(p.tags) AS t (tag)
WHERE p.posted_at > watermark() - INTERVAL '5' MINUTE
GROUP BY lower(t.tag)
ORDER BY authors DESC, tag
LIMIT 10;
