-- A view on a view: a late view can change the places of its minute, and of no other.
CREATE STREAMING VIEW top_pages (place COMMENT '1 has the most views; ties by name')
COMMENT 'The ten pages with the most views of each minute'
AS
SELECT
  minute,
  row_number() OVER (PARTITION BY minute ORDER BY views DESC, page) AS place,
  page,
  views,
  users,
  p99_ms
FROM page_minutes
QUALIFY place <= 10;
