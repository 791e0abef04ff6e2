-- Over final sessions an hour only grows: nothing that was counted leaves it.
CREATE STREAMING VIEW session_hours (
  hour COMMENT 'in which the sessions began',
  bounced COMMENT 'sessions with one click',
  left_carts COMMENT 'sessions with a cart that was not paid',
  paid COMMENT 'sessions with a purchase'
)
COMMENT 'Sessions per source and hour'
AS
SELECT
  date_trunc('hour', began_at) AS hour,
  source,
  count(*) AS sessions,
  count_if(clicks = 1) AS bounced,
  count_if(cart AND NOT paid) AS left_carts,
  count_if(paid) AS paid
FROM sessions
GROUP BY date_trunc('hour', began_at), source;
