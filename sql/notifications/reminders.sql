-- Time to live since the last message: a user who is pestered for an hour hears of it every ten
-- minutes. A match is a message and the requests of the ten minutes after it, which it stands for.
CREATE STREAMING VIEW reminders (
  suppressed COMMENT 'requests of the ten minutes after it, which are not sent'
)
COMMENT 'One message for ten minutes, with the number of requests that it stands for'
AS
SELECT request_id, user_id, topic, requested_at, suppressed
FROM requested MATCH_RECOGNIZE (
  PARTITION BY user_id, topic
  ORDER BY requested_at, request_id
  MEASURES
    FIRST(sent.request_id) AS request_id,
    FIRST(sent.requested_at) AS requested_at,
    count(*) - 1 AS suppressed
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (sent again*) WITHIN INTERVAL '10' MINUTE
  DEFINE again AS true
)
EMIT ON WINDOW CLOSE;
