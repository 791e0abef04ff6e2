-- Time to live since the last request: as long as requests come within ten minutes of one another,
-- the user hears of the first one only. Of requests of one instant, the least number is sent.
CREATE STREAMING VIEW notifications
COMMENT 'What is sent; a row that is there stays'
AS
SELECT request_id, user_id, topic, requested_at
FROM requested
QUALIFY request_id = first_value(request_id) OVER (
  PARTITION BY user_id, topic ORDER BY requested_at
  RANGE BETWEEN INTERVAL '10' MINUTE PRECEDING AND CURRENT ROW
)
EMIT ON WINDOW CLOSE;
