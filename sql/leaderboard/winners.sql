-- A prize cannot be taken back, so an hour is closed first: games that come later have lost it.
CREATE STREAMING VIEW games_in_time
COMMENT 'Each game once, final; games that come too late are in late_games'
LATE ROWS DROP INTO late_games
AS
SELECT DISTINCT result_id, player, points, played_at
FROM results
EMIT ON WINDOW CLOSE;

CREATE STREAMING VIEW winners (place COMMENT '1 to 3; who ties shares it')
COMMENT 'The best players of each hour, final'
AS
SELECT window_start, rank() OVER (PARTITION BY window_start ORDER BY sum(points) DESC) AS place,
  player, sum(points) AS points
FROM TUMBLE(games_in_time, played_at, INTERVAL '1' HOUR)
GROUP BY window_start, player
QUALIFY place <= 3
EMIT ON WINDOW CLOSE;
