-- The ten of each window: history that no longer changes, for charts.
CREATE STREAMING VIEW trending (place COMMENT '1 has the most authors; ties by name')
COMMENT 'The ten hashtags of each five minutes, final'
AS
SELECT
  window_end,
  row_number() OVER (PARTITION BY window_start ORDER BY authors DESC, tag) AS place,
  tag,
  authors
FROM tag_windows
QUALIFY place <= 10
EMIT ON WINDOW CLOSE;
