CREATE STREAMING VIEW games
COMMENT 'Each game once'
AS
SELECT DISTINCT result_id, player, points, played_at FROM results;

CREATE STREAMING VIEW players (reached_at COMMENT 'time of the newest game')
COMMENT 'Points per player'
AS
SELECT player, sum(points) AS points, count(*) AS games, max(played_at) AS reached_at
FROM games
GROUP BY player;

-- Of equal points, who reached them earlier is before the other.
CREATE STREAMING VIEW leaderboard
COMMENT 'The 100 best players who are not banned'
AS
SELECT
  row_number() OVER (ORDER BY points DESC, reached_at, player) AS place,
  player, points, games, reached_at
FROM players AS p
WHERE NOT EXISTS (SELECT 1 FROM bans AS b WHERE b.player = p.player)
QUALIFY place <= 100;
